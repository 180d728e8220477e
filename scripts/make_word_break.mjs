// Writes simdoc_search/analysis/word_break_12_1.txt: the properties of each range of code points that
// Lucene's StandardTokenizer uses. Its grammar is compiled with Unicode 12.1.
//
//   npm install --no-save @unicode/unicode-12.1.0 && node scripts/make_word_break.mjs > FILE
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const root = path.dirname(createRequire(path.resolve('x.js')).resolve('@unicode/unicode-12.1.0/package.json'));
const load = async (name) =>
	new Set((await import(pathToFileURL(`${root}/${name}/code-points.mjs`))).default);

const properties = {
	ALetter: await load('Word_Break/ALetter'),
	Hebrew: await load('Word_Break/Hebrew_Letter'),
	Numeric: await load('Word_Break/Numeric'),
	Katakana: await load('Word_Break/Katakana'),
	ExtendNumLet: await load('Word_Break/ExtendNumLet'),
	MidLetter: await load('Word_Break/MidLetter'),
	MidNum: await load('Word_Break/MidNum'),
	MidNumLet: await load('Word_Break/MidNumLet'),
	SingleQuote: await load('Word_Break/Single_Quote'),
	DoubleQuote: await load('Word_Break/Double_Quote'),
	Extend: await load('Word_Break/Extend'),
	ZWJ: await load('Word_Break/ZWJ'),
	RegionalIndicator: await load('Word_Break/Regional_Indicator'),
	Han: await load('Script/Han'),
	Hiragana: await load('Script/Hiragana'),
	ComplexContext: await load('Line_Break/Complex_Context'),
	Emoji: await load('Binary_Property/Extended_Pictographic'),
	EmojiModifier: await load('Binary_Property/Emoji_Modifier'),
};
const add = (name, from, to) => { for (let c = from; c <= to; c++) properties[name].add(c); };
for (const c of await load('Word_Break/Format')) properties.Extend.add(c);
for (const c of await load('Word_Break/ZWJ')) properties.Extend.add(c);
const wide = await load('Block/Halfwidth_And_Fullwidth_Forms');
for (const c of await load('General_Category/Decimal_Number')) if (wide.has(c)) properties.Numeric.add(c);
const notEmoji = new Set([...'0123456789#*'].map((c) => c.codePointAt(0)));
for (const c of await load('Binary_Property/Emoji'))
	if (!notEmoji.has(c) && !properties.RegionalIndicator.has(c) && !properties.EmojiModifier.has(c))
		properties.Emoji.add(c);
properties.KeycapBase = notEmoji;
properties.Keycap = new Set([0x20e3]);
properties.TextSelector = new Set([0xfe0e]);
properties.EmojiSelector = new Set([0xfe0f]);
properties.Tag = new Set(); add('Tag', 0xe0020, 0xe007e);
properties.TagEnd = new Set([0xe007f]);

const names = Object.keys(properties);
const of = (c) => names.filter((name) => properties[name].has(c)).join('+');
let first = 0, before = of(0);
for (let c = 1; c <= 0x110000; c++) {
	const now = c < 0x110000 ? of(c) : null;
	if (now === before) continue;
	if (before) console.log(`${first.toString(16)} ${(c - 1).toString(16)} ${before}`);
	first = c; before = now;
}
