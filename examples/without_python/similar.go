// Finds similar documents in Go, with only the standard library. The program saves a document and finds documents that
// are similar to it. Then it finds documents that are similar to a text that is not in the index.
//
//	go run similar.go http://localhost:9200 manuals ann
//
// The numbers are numbers of matching tokens.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
)

type object = map[string]any

type manuals struct{ engine, index, user string }

// document identifies a document, as hits and the responses to writes do. An alias can have several indices.
type document struct {
	Index string `json:"_index"`
	ID    string `json:"_id"`
}

// readable returns the filter of every search of this user.
func (m manuals) readable() object {
	return object{"terms": object{"readers": []string{m.user, "everyone"}}}
}

// save stores a document. The pipeline adds the field simdoc. The result names the index of the document.
func (m manuals) save(id string, source object) (saved document, err error) {
	err = m.request("PUT", m.index+"/_doc/"+url.PathEscape(id)+"?refresh=true", source, &saved)
	return saved, err
}

// similar finds documents that are similar to a stored document. The template reads this document without any filters,
// so a search with the user's filter comes first. The hit has its number of tokens, and its routing, if there is one.
func (m manuals) similar(at document, overlap int) ([]string, error) {
	id, index := object{"ids": object{"values": []string{at.ID}}}, object{"term": object{"_index": at.Index}}
	query := object{"bool": object{"filter": []object{id, index, m.readable()}}}
	var found struct {
		Hits struct {
			Hits []struct {
				Routing string `json:"_routing"`
				Fields  struct {
					Buckets []int `json:"simdoc.buckets"`
				}
			}
		}
	}
	asked := object{"query": query, "_source": false, "docvalue_fields": []string{"simdoc.buckets"}}
	err := m.request("POST", m.index+"/_search", asked, &found)
	if hits := found.Hits.Hits; err != nil || len(hits) == 0 || len(hits[0].Fields.Buckets) == 0 {
		return nil, err // the user may not read it, or it has no words
	}
	hit := found.Hits.Hits[0]
	params := object{"index": at.Index, "id": at.ID, "overlap": overlap, "buckets": hit.Fields.Buckets[0]}
	if hit.Routing != "" {
		params["routing"] = hit.Routing
	}
	return m.ask("simdoc-similar", params)
}

// similarToText finds documents that are similar to a text. The pipeline computes its fingerprint, which is sent
// unchanged.
func (m manuals) similarToText(body string, overlap int) ([]string, error) {
	var made struct {
		Docs []struct {
			Doc struct {
				Source struct{ Simdoc json.RawMessage } `json:"_source"`
			}
		}
	}
	docs := object{"docs": []object{{"_source": object{"body": body}}}}
	err := m.request("POST", "_ingest/pipeline/simdoc/_simulate", docs, &made)
	if err != nil || made.Docs[0].Doc.Source.Simdoc == nil { // the text has no words
		return nil, err
	}
	return m.ask("simdoc-similar-to-text", object{"fingerprint": made.Docs[0].Doc.Source.Simdoc, "overlap": overlap})
}

func (m manuals) ask(template string, params object) ([]string, error) {
	params["filter"], params["fields"] = []object{m.readable()}, []string{"title"}
	var answer struct {
		Hits struct {
			Hits []struct {
				Score  float64                `json:"_score"`
				Source struct{ Title string } `json:"_source"`
			}
		}
	}
	if err := m.request("POST", m.index+"/_search/template", object{"id": template, "params": params}, &answer); err != nil {
		return nil, err
	}
	var titles []string
	for _, hit := range answer.Hits.Hits {
		titles = append(titles, fmt.Sprintf("%s (%.0f)", hit.Source.Title, hit.Score))
	}
	return titles, nil
}

func (m manuals) request(method, path string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, m.engine+"/"+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", response.Status, received)
	}
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(received, answer)
}

func main() {
	app := manuals{os.Args[1], os.Args[2], os.Args[3]}
	saved, err := app.save("kettle-2", object{
		"title":   "Wren kettle, second edition",
		"readers": []string{"everyone"},
		"body": "The Wren is a kettle for induction hobs. Fill it to the line inside, and put the whistle on before you " +
			"switch the hob on. It sings at a hundred degrees. Descale it with two spoons of vinegar every month.",
	})
	must(nil, err)
	for _, found := range must(app.similar(saved, 20)) {
		fmt.Println("similar to the document:", found)
	}
	text := "It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, " +
		"and dry it with the lid off."
	for _, found := range must(app.similarToText(text, 10)) {
		fmt.Println("similar to the text:", found)
	}
}

func must(found []string, err error) []string {
	if err != nil {
		log.Fatal(err)
	}
	return found
}
