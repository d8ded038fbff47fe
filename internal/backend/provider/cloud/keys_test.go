package cloud

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
)

func clock() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func envOf(t *testing.T, home string, vars map[string]string) Env {
	t.Helper()
	return Env{
		Get: func(n string) string {
			if n == "AWS_EC2_METADATA_DISABLED" && vars[n] == "" {
				return "true"
			}
			return vars[n]
		},
		Home: home, HTTP: http.DefaultClient, Now: clock,
		Run: func(_ context.Context, c string) (string, error) {
			return fmt.Sprintf(`{"Version":1,"AccessKeyId":"from %s","SecretAccessKey":"s"}`, c), nil
		},
	}
}

// awsServer stands in for the token service, SSO, and the metadata of a machine and a container.
func awsServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sts := func(result, id string) {
			fmt.Fprintf(w, `<R><%s><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2026-11-30T13:00:00Z</Expiration></Credentials></%s></R>`, result, id, result)
		}
		switch q := r.URL.Query(); {
		case q.Get("Action") == "AssumeRole" && strings.Contains(r.Header.Get("Authorization"), "Credential=BASE/"):
			sts("AssumeRoleResult", "ROLE-"+q.Get("RoleArn"))
		case q.Get("Action") == "AssumeRoleWithWebIdentity" && q.Get("WebIdentityToken") == "web-token":
			sts("AssumeRoleWithWebIdentityResult", "WEB")
		case r.URL.Path == "/federation/credentials" && r.Header.Get("X-Amz-Sso_bearer_token") == "sso-token":
			fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"SSO-%s-%s","secretAccessKey":"s","sessionToken":"t","expiration":%d}}`, q.Get("role_name"), q.Get("account_id"), clock().Add(time.Hour).UnixMilli())
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
			fmt.Fprint(w, "imds-token")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/" && r.Header.Get("X-Aws-Ec2-Metadata-Token") == "imds-token":
			fmt.Fprint(w, "the-role")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/the-role", r.URL.Path == "/container" && r.Header.Get("Authorization") == "container-token":
			fmt.Fprint(w, `{"AccessKeyId":"META","SecretAccessKey":"s","Token":"t","Expiration":"2026-11-30T13:00:00Z"}`)
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAWSCredentialsAreFoundInOrder(t *testing.T) {
	s := awsServer(t)
	home := t.TempDir()
	write(t, home+"/.aws/credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = s\n[default]\naws_access_key_id=DEFAULT\naws_secret_access_key=s\n")
	write(t, home+"/.aws/config", `[default]
region = eu-west-1
[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = base
[profile sso]
sso_session = corp
sso_account_id = 42
sso_role_name = Dev
[sso-session corp]
sso_region = us-east-1
sso_start_url = https://corp.example/start
[profile old]
sso_start_url = https://old.example/start
sso_region = us-east-1
sso_account_id = 42
sso_role_name = Dev
[profile process]
credential_process = print-keys
[profile empty]
region = us-west-2
`)
	write(t, home+"/.aws/sso/cache/"+sha1Hex("corp")+".json", `{"accessToken":"sso-token","expiresAt":"2026-11-30T20:00:00Z"}`)
	write(t, home+"/.aws/sso/cache/"+sha1Hex("https://old.example/start")+".json", `{"accessToken":"sso-token","expiresAt":"2026-11-30T02:00:00Z"}`)
	write(t, home+"/web", "web-token\n")
	ends := map[string]string{"AWS_ENDPOINT_URL_STS": s.URL, "AWS_ENDPOINT_URL_SSO": s.URL}
	for name, c := range map[string]struct {
		vars       map[string]string
		want, fail string
	}{
		"environment": {map[string]string{"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}, "ENV", ""},
		"half":        {map[string]string{"AWS_ACCESS_KEY_ID": "ENV"}, "", "AWS_SECRET_ACCESS_KEY is not"},
		"default":     {nil, "DEFAULT", ""},
		"profile":     {map[string]string{"AWS_PROFILE": "base"}, "BASE", ""},
		"role":        {map[string]string{"AWS_PROFILE": "role"}, "ROLE-arn:aws:iam::1:role/x", ""},
		"sso":         {map[string]string{"AWS_PROFILE": "sso"}, "SSO-Dev-42", ""},
		"expired sso": {map[string]string{"AWS_PROFILE": "old"}, "", "run aws sso login --profile old"},
		"process":     {map[string]string{"AWS_PROFILE": "process"}, "from print-keys", ""},
		"empty":       {map[string]string{"AWS_PROFILE": "empty"}, "", "holds no credentials"},
		"unknown":     {map[string]string{"AWS_PROFILE": "nope"}, "", `no profile "nope"`},
		"web":         {map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": home + "/web", "AWS_ROLE_ARN": "r"}, "WEB", ""},
		"container": {map[string]string{
			"AWS_CONFIG_FILE": home + "/none", "AWS_SHARED_CREDENTIALS_FILE": home + "/none",
			"AWS_CONTAINER_CREDENTIALS_FULL_URI": s.URL + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "container-token",
		}, "META", ""},
		"instance": {map[string]string{
			"AWS_CONFIG_FILE": home + "/none", "AWS_SHARED_CREDENTIALS_FILE": home + "/none",
			"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": s.URL,
		}, "META", ""},
		"none": {map[string]string{"AWS_CONFIG_FILE": home + "/none", "AWS_SHARED_CREDENTIALS_FILE": home + "/none"}, "", "no AWS credentials"},
	} {
		vars := map[string]string{}
		for _, m := range []map[string]string{ends, c.vars} {
			maps.Copy(vars, m)
		}
		k := newAWSKeys(envOf(t, home, vars))
		got, err := k.find(t.Context())
		if got.id != c.want || (err != nil) != (c.fail != "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%s: %q, %v", name, got.id, err)
		}
	}
	if r := newAWSKeys(envOf(t, home, nil)).region(); r != "eu-west-1" {
		t.Errorf("region %s", r)
	}
}

// TestServiceAccount: a token is asked for with a JWT that the account's key signed.
func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		parts := strings.Split(r.FormValue("assertion"), ".")
		if len(parts) != 3 {
			t.Fatalf("assertion %q", r.FormValue("assertion"))
		}
		sig, err := base64.RawURLEncoding.DecodeString(parts[2])
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if err != nil || rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], sig) != nil {
			t.Error("the JWT's signature is wrong")
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"ya29.%d","expires_in":3600,"token_type":"Bearer"}`, asked)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "sa.json")
	raw, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "proj-1", "private_key_id": "k1", "client_email": "a@example.test", "token_uri": s.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(raw))
	g := &googleTokens{env: envOf(t, "", map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file})}
	for _, want := range []string{"ya29.1", "ya29.1"} {
		if a, err := g.auth(t.Context(), ""); err != nil || a.Secret != want {
			t.Errorf("%s, %v", a.Secret, err)
		}
	}
	if a, err := g.auth(t.Context(), "ya29.1"); err != nil || a.Secret != "ya29.2" {
		t.Errorf("after a refusal: %s, %v", a.Secret, err)
	}
	if p, err := g.project(); p != "proj-1" || err != nil {
		t.Errorf("project %q, %v", p, err)
	}
	write(t, file, "no json")
	g = &googleTokens{env: envOf(t, "", map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file})}
	if _, err := g.auth(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "GOOGLE_APPLICATION_CREDENTIALS") {
		t.Error(err)
	}
}

func TestEntra(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/tenant-1/oauth2/v2.0/token" && r.FormValue("client_secret") == "right" && r.FormValue("scope") == entraScope:
			fmt.Fprint(w, `{"access_token":"app","expires_in":3600}`)
		case r.FormValue("client_assertion") == "federated":
			fmt.Fprint(w, `{"access_token":"fed","expires_in":3600}`)
		case r.URL.Path == "/msi" && r.Header.Get("X-Identity-Header") == "h":
			fmt.Fprint(w, `{"access_token":"machine","expires_in":"3600"}`)
		default:
			http.Error(w, "secret echo", http.StatusUnauthorized)
		}
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "token")
	write(t, file, "federated\n")
	app := map[string]string{"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "c", "AZURE_AUTHORITY_HOST": s.URL}
	for _, c := range []struct {
		more       map[string]string
		want, fail string
	}{
		{map[string]string{"AZURE_CLIENT_SECRET": "right"}, "app", ""},
		{map[string]string{"AZURE_CLIENT_SECRET": "wrong"}, "", "check AZURE_TENANT_ID"},
		{map[string]string{"AZURE_FEDERATED_TOKEN_FILE": file}, "fed", ""},
		{map[string]string{"IDENTITY_ENDPOINT": s.URL + "/msi", "IDENTITY_HEADER": "h"}, "machine", ""},
	} {
		vars := map[string]string{}
		for _, m := range []map[string]string{app, c.more} {
			maps.Copy(vars, m)
		}
		e := &Entra{Env: envOf(t, "", vars)}
		a, err := e.Auth(t.Context(), "")
		if a.Secret != c.want || (err != nil) != (c.fail != "") || err != nil && (!strings.Contains(err.Error(), c.fail) || strings.Contains(err.Error(), "echo")) {
			t.Errorf("%v: %q, %v", c.more, a.Secret, err)
		}
	}
	e := &Entra{Env: Env{Get: func(string) string { return "" }, Now: clock}}
	if _, err := e.Auth(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_FOUNDRY_API_KEY") {
		t.Error(err)
	}
}

func TestBedrockErrorsNameTheFix(t *testing.T) {
	d := newBedrockDialect(envOf(t, t.TempDir(), nil), "eu-north-1")
	for _, c := range []struct {
		status     int
		kind, text string
		class      provider.Class
		fix        string
	}{
		{403, "ExpiredTokenException", "The security token included in the request is expired", provider.Auth, "aws sso login"},
		{403, "UnrecognizedClientException", "The security token included in the request is invalid.", provider.Auth, "AWS_ACCESS_KEY_ID"},
		{403, "InvalidSignatureException", "Signature expired: 20261130T1 is now earlier than 20261130T2", provider.Auth, "clock"},
		{400, "ValidationException", "The provided model identifier is invalid.", provider.NotFound, "AWS_REGION"},
		{400, "ValidationException", "Invocation of model ID x with on-demand throughput isn’t supported.", provider.NotFound, "inference profile"},
		{403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", provider.NotFound, "eu-north-1"},
		{403, "AccessDeniedException", "User is not authorized to perform", provider.Forbidden, "Bedrock console"},
		{429, "ThrottlingException", "Too many requests", provider.RateLimited, ""},
		{503, "ServiceUnavailableException", "busy", provider.Overloaded, ""},
		{400, "ValidationException", "prompt is too long: 210000 tokens > 200000 maximum", provider.TooLong, ""},
	} {
		e := d.Classify(c.status, http.Header{"X-Amzn-Errortype": {c.kind + ":http://internal"}}, fmt.Appendf(nil, `{"message":%q}`, c.text), clock())
		if e.Class != c.class || !strings.Contains(e.Fix, c.fix) {
			t.Errorf("%s: %+v", c.text, e)
		}
	}
	if got := d.model("claude-opus-5-5"); got != "eu.anthropic.claude-opus-5-5" {
		t.Error(got)
	}
}

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
