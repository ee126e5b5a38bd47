// The checks of a client run one after another; each prints one line of JSON with its outcome.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-mastodon"
)

const (
	password  = "correct horse battery staple"
	outOfBand = "urn:ietf:wg:oauth:2.0:oob"
	scopes    = "read write follow push"
	longest   = 20 * time.Second
)

var server = os.Getenv("BASE_URL")

type outcome struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Text   string `json:"text"`
}

// check runs one check with a deadline, and prints what came out of it. A panic is a failure.
func check(name string, run func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	err := guarded(func() error { return run(ctx) })
	result := outcome{Name: name, Passed: err == nil}
	if err != nil {
		result.Text = err.Error()
	}
	line, _ := json.Marshal(result)
	fmt.Println(string(line))
}

func guarded(run func() error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("panic: %v", broken)
		}
	}()
	return run()
}

// that is nil if the condition holds.
func that(holds bool, format string, values ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, values...)
}

// refused is nil if the call was answered with this status.
func refused(status int, err error) error {
	var answer *mastodon.APIError
	if errors.As(err, &answer) {
		return that(answer.StatusCode == status, "answered %d and not %d", answer.StatusCode, status)
	}
	return fmt.Errorf("not refused with %d: %v", status, err)
}

// until asks again until something is there: the worker does it after the write.
func until(ctx context.Context, look func() (bool, error)) error {
	for {
		there, err := look()
		if err != nil || there {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func has(statuses []*mastodon.Status, id mastodon.ID) error {
	for _, status := range statuses {
		if status.ID == id {
			return nil
		}
	}
	return fmt.Errorf("%s is not among %d posts", id, len(statuses))
}

// person signs up with an application of its own. go-mastodon has no call for that, and asks for the
// application's token without a scope, which then may only read.
func person(ctx context.Context, number int) (*mastodon.Client, error) {
	config := &mastodon.AppConfig{Server: server, ClientName: "go-mastodon", Scopes: scopes}
	app, err := mastodon.RegisterApp(ctx, config)
	if err != nil {
		return nil, err
	}
	client := mastodon.NewClient(&mastodon.Config{
		Server: server, ClientID: app.ClientID, ClientSecret: app.ClientSecret,
	})
	token, err := send(ctx, "/oauth/token", "", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {app.ClientID},
		"client_secret": {app.ClientSecret}, "redirect_uri": {outOfBand}, "scope": {scopes},
	})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("go%d%d", time.Now().UnixMilli(), number)
	client.Config.AccessToken, err = send(ctx, "/api/v1/accounts", token, url.Values{
		"username": {name}, "email": {name + "@example.org"}, "password": {password},
		"agreement": {"true"}, "locale": {"en"},
	})
	return client, err
}

// send is the token of the answer.
func send(ctx context.Context, path, token string, form url.Values) (string, error) {
	body := strings.NewReader(form.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server+path, body)
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var made struct {
		AccessToken string `json:"access_token"`
	}
	err = json.NewDecoder(answer.Body).Decode(&made)
	return made.AccessToken, errors.Join(err, that(made.AccessToken != "", "%s: %s", path, answer.Status))
}

// picture is a red one of 16 x 16 points.
func picture() []byte {
	canvas := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for place := range 16 * 16 {
		canvas.Set(place%16, place/16, color.RGBA{R: 255, A: 255})
	}
	var body bytes.Buffer
	_ = png.Encode(&body, canvas)
	return body.Bytes()
}
