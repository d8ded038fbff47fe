package cloud

import (
	"context"
	"crypto/sha1" // the SSO cache names its files so
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// awsKeys finds AWS credentials in the order of the AWS SDKs: environment, web
// identity, profile (keys, role, SSO, process), container, instance.
type awsKeys struct {
	env  Env
	mu   sync.Mutex
	held awsKey
	has  bool
}

func newAWSKeys(e Env) *awsKeys {
	if e.Now == nil {
		e.Now = time.Now
	}
	return &awsKeys{env: e}
}

// renewBefore is how long before their end credentials are renewed.
const renewBefore = 5 * time.Minute

// find returns credentials that hold for a while, from memory where it can.
func (k *awsKeys) find(ctx context.Context) (awsKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.has && (k.held.expires.IsZero() || k.env.Now().Add(renewBefore).Before(k.held.expires)) {
		return k.held, nil
	}
	key, err := k.search(ctx)
	if err != nil {
		return awsKey{}, err
	}
	k.held, k.has = key, true
	return key, nil
}

func (k *awsKeys) search(ctx context.Context) (awsKey, error) {
	get := k.env.Get
	if id := get("AWS_ACCESS_KEY_ID"); id != "" && get("AWS_PROFILE") == "" {
		if get("AWS_SECRET_ACCESS_KEY") == "" {
			return awsKey{}, errors.New("AWS credentials: AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not")
		}
		return awsKey{id: id, secret: get("AWS_SECRET_ACCESS_KEY"), token: get("AWS_SESSION_TOKEN")}, nil
	}
	if file, role := get("AWS_WEB_IDENTITY_TOKEN_FILE"), get("AWS_ROLE_ARN"); file != "" && role != "" {
		return k.webIdentity(ctx, file, role, get("AWS_ROLE_SESSION_NAME"))
	}
	name := k.profileName()
	if p := k.profile(name); len(p) > 0 {
		key, err := k.fromProfile(ctx, name, p, 0)
		if err == nil || get("AWS_PROFILE") != "" || !errors.Is(err, errNoKeys) {
			return key, err
		}
	} else if get("AWS_PROFILE") != "" {
		return awsKey{}, fmt.Errorf("AWS credentials: there is no profile %q in %s", name, k.file("AWS_CONFIG_FILE", "config"))
	}
	if get("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "" || get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" {
		return k.container(ctx)
	}
	if get("AWS_EC2_METADATA_DISABLED") != "true" {
		if key, err := k.instance(ctx); err == nil {
			return key, nil
		}
	}
	return awsKey{}, errors.New("no AWS credentials were found (environment, profile, SSO, container, instance)")
}

var errNoKeys = errors.New("the profile holds no credentials")

func (k *awsKeys) profileName() string {
	for _, v := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		if n := k.env.Get(v); n != "" {
			return n
		}
	}
	return "default"
}

// region is AWS_REGION, AWS_DEFAULT_REGION, or the profile's.
func (k *awsKeys) region() string {
	for _, v := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if r := k.env.Get(v); r != "" {
			return r
		}
	}
	if r := k.profile(k.profileName())["region"]; r != "" {
		return r
	}
	return "us-east-1"
}

func awsDomain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

func (k *awsKeys) file(variable, name string) string {
	if f := k.env.Get(variable); f != "" {
		return f
	}
	return filepath.Join(k.env.Home, ".aws", name)
}

// profile merges what both files say about a profile; the credentials file wins.
func (k *awsKeys) profile(name string) map[string]string {
	out := map[string]string{}
	section := "profile " + name
	if name == "default" {
		section = name
	}
	maps.Copy(out, iniSection(k.file("AWS_CONFIG_FILE", "config"), section))
	maps.Copy(out, iniSection(k.file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), name))
	return out
}

// iniSection reads one section; a file that is not there has none.
func iniSection(path, section string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	out, in := map[string]string{}, false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' || text[0] == ';' {
			continue
		}
		if text[0] == '[' {
			in = strings.Join(strings.Fields(strings.Trim(text, "[] \t")), " ") == section
			continue
		}
		key, v, ok := strings.Cut(text, "=")
		if in && ok && line[0] != ' ' && line[0] != '\t' {
			out[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(v)
		}
	}
	return out
}

// maxRoles bounds a chain of profiles that assume roles.
const maxRoles = 5

func (k *awsKeys) fromProfile(ctx context.Context, name string, p map[string]string, depth int) (awsKey, error) {
	switch {
	case p["role_arn"] != "" && depth < maxRoles:
		return k.assume(ctx, name, p, depth)
	case p["aws_access_key_id"] != "":
		return awsKey{id: p["aws_access_key_id"], secret: p["aws_secret_access_key"], token: p["aws_session_token"]}, nil
	case p["sso_account_id"] != "":
		return k.sso(ctx, name, p)
	case p["credential_process"] != "":
		return k.process(ctx, p["credential_process"])
	}
	return awsKey{}, fmt.Errorf("AWS profile %q: %w", name, errNoKeys)
}

// process runs the profile's command, whose answer has the documented form.
func (k *awsKeys) process(ctx context.Context, command string) (awsKey, error) {
	if k.env.Run == nil {
		return awsKey{}, errors.New("AWS credentials: nothing here can run credential_process")
	}
	out, err := k.env.Run(ctx, command)
	if err != nil {
		return awsKey{}, fmt.Errorf("AWS credentials: run credential_process: %w", err)
	}
	var v struct {
		AccessKeyID, SecretAccessKey, SessionToken string
		Expiration                                 time.Time
	}
	if json.Unmarshal([]byte(out), &v) != nil || v.AccessKeyID == "" {
		return awsKey{}, errors.New("AWS credentials: credential_process printed no credentials")
	}
	return awsKey{v.AccessKeyID, v.SecretAccessKey, v.SessionToken, v.Expiration}, nil
}

// sso trades the token of `aws sso login` for the role's credentials.
func (k *awsKeys) sso(ctx context.Context, name string, p map[string]string) (awsKey, error) {
	cacheName, region := p["sso_start_url"], p["sso_region"]
	if s := p["sso_session"]; s != "" {
		cacheName = s
		if r := iniSection(k.file("AWS_CONFIG_FILE", "config"), "sso-session "+s)["sso_region"]; r != "" {
			region = r
		}
	}
	login := "run aws sso login --profile " + name
	sum := sha1.Sum([]byte(cacheName))
	data, err := os.ReadFile(filepath.Join(k.env.Home, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json"))
	if err != nil {
		return awsKey{}, fmt.Errorf("AWS profile %q has no SSO login: %s", name, login)
	}
	var token struct {
		AccessToken string
		ExpiresAt   time.Time
	}
	if json.Unmarshal(data, &token) != nil || token.AccessToken == "" {
		return awsKey{}, fmt.Errorf("the SSO login of AWS profile %q cannot be read: %s", name, login)
	}
	if !token.ExpiresAt.IsZero() && !token.ExpiresAt.After(k.env.Now()) {
		return awsKey{}, fmt.Errorf("the SSO login of AWS profile %q has expired: %s", name, login)
	}
	base := k.env.Get("AWS_ENDPOINT_URL_SSO")
	if base == "" {
		base = "https://portal.sso." + region + "." + awsDomain(region)
	}
	q := url.Values{"role_name": {p["sso_role_name"]}, "account_id": {p["sso_account_id"]}}
	body, err := k.ask(ctx, http.MethodGet, base+"/federation/credentials?"+q.Encode(), http.Header{"X-Amz-Sso_bearer_token": {token.AccessToken}})
	if err != nil {
		return awsKey{}, fmt.Errorf("AWS SSO: %w; %s", err, login)
	}
	var v struct {
		RoleCredentials struct {
			AccessKeyID, SecretAccessKey, SessionToken string
			Expiration                                 int64
		}
	}
	if json.Unmarshal(body, &v) != nil || v.RoleCredentials.AccessKeyID == "" {
		return awsKey{}, fmt.Errorf("AWS SSO gave no credentials: %s", login)
	}
	c := v.RoleCredentials
	return awsKey{c.AccessKeyID, c.SecretAccessKey, c.SessionToken, time.UnixMilli(c.Expiration)}, nil
}

func (k *awsKeys) sts(ctx context.Context, q url.Values, by *awsKey) (awsKey, error) {
	region := k.region()
	base := k.env.Get("AWS_ENDPOINT_URL_STS")
	if base == "" {
		base = "https://sts." + region + "." + awsDomain(region)
	}
	q.Set("Version", "2011-06-15")
	if q.Get("RoleSessionName") == "" {
		q.Set("RoleSessionName", "hew")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/?"+q.Encode(), nil)
	if err != nil {
		return awsKey{}, err
	}
	if by != nil {
		signV4(r, nil, *by, region, "sts", k.env.Now())
	}
	body, err := k.do(r)
	if err != nil {
		return awsKey{}, fmt.Errorf("AWS token service, role %s: %w", q.Get("RoleArn"), err)
	}
	key := awsKey{element(body, "AccessKeyId"), element(body, "SecretAccessKey"), element(body, "SessionToken"), time.Time{}}
	if key.id == "" || key.secret == "" {
		return awsKey{}, errors.New("AWS token service: the answer holds no credentials")
	}
	if key.expires, err = time.Parse(time.RFC3339, element(body, "Expiration")); err != nil {
		return awsKey{}, fmt.Errorf("AWS token service: %w", err)
	}
	return key, nil
}

// element is the text of an XML element that occurs once and holds nothing but
// text without escapes, as the four members of credentials do.
func element(body []byte, name string) string {
	_, rest, _ := strings.Cut(string(body), "<"+name+">")
	text, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(text)
}

func (k *awsKeys) webIdentity(ctx context.Context, file, role, session string) (awsKey, error) {
	token, err := os.ReadFile(file)
	if err != nil {
		return awsKey{}, fmt.Errorf("AWS_WEB_IDENTITY_TOKEN_FILE: %w", err)
	}
	return k.sts(ctx, url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role}, "RoleSessionName": {session}, "WebIdentityToken": {strings.TrimSpace(string(token))},
	}, nil)
}

// assume takes on a profile's role with the credentials of its source.
func (k *awsKeys) assume(ctx context.Context, name string, p map[string]string, depth int) (awsKey, error) {
	if file := p["web_identity_token_file"]; file != "" {
		return k.webIdentity(ctx, file, p["role_arn"], p["role_session_name"])
	}
	source := p["source_profile"]
	if source == "" {
		return awsKey{}, fmt.Errorf("AWS profile %q has a role_arn but no source_profile", name)
	}
	from := k.profile(source)
	if source == name {
		delete(from, "role_arn")
	}
	by, err := k.fromProfile(ctx, source, from, depth+1)
	if err != nil {
		return awsKey{}, err
	}
	q := url.Values{"Action": {"AssumeRole"}, "RoleArn": {p["role_arn"]}, "RoleSessionName": {p["role_session_name"]}}
	if id := p["external_id"]; id != "" {
		q.Set("ExternalId", id)
	}
	return k.sts(ctx, q, &by)
}

// container asks the agent of ECS or EKS.
func (k *awsKeys) container(ctx context.Context) (awsKey, error) {
	at := k.env.Get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if rel := k.env.Get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); rel != "" {
		at = "http://169.254.170.2" + rel
	}
	token := k.env.Get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if f := k.env.Get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); f != "" {
		data, err := os.ReadFile(f)
		if err != nil {
			return awsKey{}, fmt.Errorf("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: %w", err)
		}
		token = strings.TrimSpace(string(data))
	}
	h := http.Header{}
	if token != "" {
		h.Set("Authorization", token)
	}
	body, err := k.ask(ctx, http.MethodGet, at, h)
	if err != nil {
		return awsKey{}, fmt.Errorf("AWS container credentials: %w", err)
	}
	return metadataKey(body)
}

// instance asks the machine that hew runs on (IMDSv2).
func (k *awsKeys) instance(ctx context.Context) (awsKey, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	base := k.env.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	if base == "" {
		base = "http://169.254.169.254"
	}
	base = strings.TrimRight(base, "/") + "/latest/"
	token, err := k.ask(ctx, http.MethodPut, base+"api/token", http.Header{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {"300"}})
	if err != nil {
		return awsKey{}, err
	}
	h := http.Header{"X-Aws-Ec2-Metadata-Token": {string(token)}}
	at := base + "meta-data/iam/security-credentials/"
	role, err := k.ask(ctx, http.MethodGet, at, h)
	if err != nil {
		return awsKey{}, err
	}
	body, err := k.ask(ctx, http.MethodGet, at+strings.TrimSpace(string(role)), h)
	if err != nil {
		return awsKey{}, err
	}
	return metadataKey(body)
}

func metadataKey(body []byte) (awsKey, error) {
	var v struct {
		AccessKeyID, SecretAccessKey, Token string
		Expiration                          time.Time
	}
	if json.Unmarshal(body, &v) != nil || v.AccessKeyID == "" {
		return awsKey{}, errors.New("AWS metadata hold no credentials")
	}
	return awsKey{v.AccessKeyID, v.SecretAccessKey, v.Token, v.Expiration}, nil
}

func (k *awsKeys) ask(ctx context.Context, method, at string, h http.Header) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, h)
	return k.do(r)
}

func (k *awsKeys) do(r *http.Request) ([]byte, error) { return fetch(k.env.HTTP, r) }

// maxToken bounds an answer of a token service.
const maxToken = 1 << 20

// fetch makes a request to a token service. Errors name the host and the
// status, never the body, which may hold a token.
func fetch(c *http.Client, r *http.Request) ([]byte, error) {
	if c == nil {
		c = http.DefaultClient
	}
	resp, err := c.Do(r)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, fmt.Errorf("cannot reach %s: %w", r.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxToken))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answers %s", r.URL.Host, resp.Status)
	}
	return body, nil
}
