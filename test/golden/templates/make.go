// Makes expected.json: what the reference implementation of this template language, the package
// text/template of Go, makes of every template of corpus.txt. Nothing needs it but a change of the
// corpus: go run make.go
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"text/template"
)

type outcome struct {
	Template string `json:"template"`
	Output   string `json:"output"`
	// "parse" or "run" where it is refused.
	Refused string `json:"refused,omitempty"`
}

// Whole numbers stay whole, as they are with us.
func whole(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	}
	return value
}

func parseJSON(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return whole(value), err
}

func run(text string) outcome {
	parsed, err := template.New("the whole").Funcs(template.FuncMap{"parseJSON": parseJSON}).Parse(text)
	if err != nil {
		return outcome{text, "", "parse"}
	}
	var output bytes.Buffer
	if err := parsed.Execute(&output, nil); err != nil {
		return outcome{text, "", "run"}
	}
	return outcome{text, output.String(), ""}
}

func main() {
	corpus, err := os.ReadFile("corpus.txt")
	if err != nil {
		panic(err)
	}
	outcomes := []outcome{}
	for _, text := range strings.Split(string(corpus), "\n%%\n") {
		outcomes = append(outcomes, run(strings.TrimSuffix(text, "\n%%")))
	}
	made := map[string]any{"made with": "text/template of " + runtime.Version(), "outcomes": outcomes}
	var output bytes.Buffer
	encoder := json.NewEncoder(&output)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(made); err != nil {
		panic(err)
	}
	if err := os.WriteFile("expected.json", output.Bytes(), 0o644); err != nil {
		panic(err)
	}
}
