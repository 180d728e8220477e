"""The same few sentences in several languages."""

from __future__ import annotations

__all__ = ["PROSE"]

PROSE = {
    "en": "The kettle stands on the stove and sings as soon as water boils. My grandmother bought it many years ago, "
    "and nobody in the family has ever thought of replacing it with a new one.",
    "de": "Der Kessel steht auf dem Herd und singt, sobald das Wasser kocht. Meine Großmutter hat ihn vor Jahren "
    "gekauft, und niemand in der Familie hat je daran gedacht, ihn durch einen neuen zu ersetzen.",
    "fr": "La bouilloire est sur la cuisinière et chante dès que l'eau bout. Ma grand-mère l'a achetée il y a bien des "
    "années, et personne dans la famille n'a jamais pensé à la remplacer par une neuve.",
    "es": "La tetera está sobre la cocina y canta en cuanto hierve el agua. Mi abuela la compró hace muchos años, y "
    "nadie en la familia ha pensado jamás en cambiarla por una nueva.",
    "pl": "Czajnik stoi na kuchence i śpiewa, gdy tylko zagotuje się woda. Moja babcia kupiła go dawno temu i nikt w "
    "rodzinie nigdy nie pomyślał o tym, żeby zastąpić go nowym.",
    "ru": "Чайник стоит на плите и поёт, как только закипает вода. Моя бабушка купила его много лет назад, и никто в "
    "семье никогда не думал о том, чтобы заменить его новым.",
    "el": "Ο βραστήρας στέκεται πάνω στην κουζίνα και σφυρίζει μόλις βράσει το νερό. Η γιαγιά μου τον αγόρασε πριν από "
    "πολλά χρόνια και κανείς στην οικογένεια δεν σκέφτηκε ποτέ να τον αντικαταστήσει.",
    "zh": "水壶放在炉子上，水一开它就会唱歌。这是我的祖母很多年以前买的，家里从来没有人想过要换一个新的。"
    "我们每天早上都用它烧水泡茶，客人来的时候也是这样。",
    "ja": "やかんはコンロの上にあり、お湯が沸くとすぐに歌い出します。祖母が何年も前に買ったもので、"
    "家族の誰も新しいものに替えようと思ったことはありません。毎朝これでお茶を入れています。",
}
