// Creates a job, waits until it is translated, and prints the translation. It needs only Go's standard library:
// `go run quick_start.go`.
//
//	DRAGOMAN_URL   the address of the server; with /sandbox at its end, the sandbox
//	DRAGOMAN_KEY   the API key, as user:key
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

type job struct {
	Status         string
	Failure        string
	TranslatedText string `json:"translated_text"`
}

func call(method, url string, body []byte) job {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "ApiKey "+os.Getenv("DRAGOMAN_KEY"))
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode >= 300 {
		log.Fatalf("%d: %s", response.StatusCode, text)
	}
	var answer job
	if err := json.Unmarshal(text, &answer); err != nil {
		log.Fatal(err)
	}
	return answer
}

func main() {
	jobs := os.Getenv("DRAGOMAN_URL") + "/tapi/v2/mt_translation/"
	// With a uid of your own, you can repeat a request that got no response: the job is created only once.
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		log.Fatal(err)
	}
	uid := hex.EncodeToString(random)
	body, err := json.Marshal(map[string]string{
		"uid":             uid,
		"text":            "The house is big.",
		"source_language": "en",
		"target_language": "es",
	})
	if err != nil {
		log.Fatal(err)
	}
	answer := call(http.MethodPost, jobs, body)
	for answer.Status != "completed" {
		if answer.Status == "failed" || answer.Status == "canceled" {
			log.Fatalf("the job is %s: %s", answer.Status, answer.Failure)
		}
		time.Sleep(500 * time.Millisecond)
		answer = call(http.MethodGet, jobs+uid+"/", nil)
	}
	fmt.Println(answer.TranslatedText)
}
