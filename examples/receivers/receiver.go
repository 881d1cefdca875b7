// Receives callbacks. It needs only Go's standard library: `go run receiver.go`.
//
//	WEBHOOK_SECRET   whsec_..., shown when the account was created; several secrets, separated by spaces, during a
//	                 rotation
//	PORT             the port to listen on (default 8081)
//
// The receiver processes each event once, even if it is delivered several times. It responds as soon as the event is
// stored.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance = 300 * time.Second
	maxBytes  = 64 << 20
)

var secrets [][]byte

// The ids of processed events. In your program, use a unique column of the table that stores the events, and write
// both in one transaction.
var (
	seen = map[string]bool{}
	lock sync.Mutex
)

// isGenuine returns true if the service sent the request and sent it recently. The signature covers the received
// bytes, so the body must not be parsed and serialized before this check.
func isGenuine(header http.Header, body []byte) bool {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
		mac.Write(body)
		expected := mac.Sum(nil)
		for _, entry := range strings.Split(header.Get("webhook-signature"), " ") {
			version, given, _ := strings.Cut(entry, ",")
			signature, err := base64.StdEncoding.DecodeString(given)
			if version == "v1" && err == nil && hmac.Equal(signature, expected) {
				return true
			}
		}
	}
	return false
}

// take processes an event; replace this with your own code. An error makes the service deliver the event again.
func take(id string, body []byte) error {
	var event struct {
		Uid     string
		Type    string
		Status  string
		Message struct{ Id, Status string }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return err
	}
	what, status := event.Uid, event.Status
	if what == "" {
		what, status = event.Message.Id, event.Message.Status
	}
	if what == "" {
		what = event.Type
	}
	line, err := json.Marshal(map[string]string{"id": id, "what": what, "status": status})
	if err == nil {
		fmt.Println(string(line))
	}
	return err
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBytes))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if request.Method != http.MethodPost || !isGenuine(request.Header, body) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	id := request.Header.Get("webhook-id")
	lock.Lock()
	defer lock.Unlock()
	if !seen[id] {
		if err := take(id, body); err != nil {
			response.WriteHeader(http.StatusInternalServerError)
			return
		}
		seen[id] = true // added last: if processing fails, the next attempt retries it
	}
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	for _, entry := range strings.Fields(os.Getenv("WEBHOOK_SECRET")) {
		prefix, encoded, _ := strings.Cut(entry, "_")
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if prefix == "whsec" && err == nil {
			secrets = append(secrets, secret)
		}
	}
	if len(secrets) == 0 {
		log.Fatal("WEBHOOK_SECRET must be set")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8081"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: http.HandlerFunc(receive), ReadTimeout: 60 * time.Second}
	log.Fatal(server.Serve(listener))
}
