/** Texts without a secret, as tools, models and servers write them: one in each line. None of them may change. */
const identifiers = `
pk_customers
pk_customers_id
PK-2027-000123
SK-2026-14
sk_translations.json
sk-translations-2026.json
sk_SK.utf8
sk-SK
messages_sk.properties
src/i18n/sk/index.ts
sk-eastern-region-2
rk_orders_2026
pk_orders_created_at_idx
fk_orders_customer_id
key-value
key-value-store
key-2024-01-15
key-frame-animation-v2
primary-key
foreign_key_orders_2
primaryKey
api_key
apiKey
x-api-key
X-API-Key
OPENAI_API_KEY
ANTHROPIC_API_KEY
AWS_SECRET_ACCESS_KEY
access_token
access-token
refresh_token
session_id
session-2026-11-22
sessionId
SessionExpiredError
token_count
tokenizer.json
token-bucket
max_tokens
total_tokens
prompt_tokens_details
TokenLimitExceeded
secretary
secretariat_2026
secret-santa
passport
password_reset_email
PasswordResetToken
passwordHash
signature_version
HmacSHA256
AWS4-HMAC-SHA256
bearer-bond
basic-auth
basic_usage_2026
BasicAuthenticationFilter
cookie-banner
cookies.txt
CookieJar
authorization_code
AuthorizationServer
author
authority
hf_transfer
hf_hub_download
hf-mirror
xai-explainability
fw_update_2026
r8_config
pa-rest-of-world
gh_pages
ghost_writer
ghp_workflow
npm_config_registry
npm_lifecycle_event
NPM_TOKEN
glpat
re_export
dp.pt
SGML
SG.1
AKIA
ASIA-PACIFIC
ASIA-2026-Q4
AIzawa
eyJust
eyJafjallajokull
ya29
cio
cioran
oy2
dapi
dapi_version
EAA
pat
pattern
patient.record
Monday.Report.final
NodeList.forEach.call
org.springframework.security.core.Authentication
com.example.orders.OrderRepositoryImpl
550e8400-e29b-41d4-a716-446655440000
6ba7b810-9dad-11d1-80b4-00c04fd430c8
d41d8cd98f00b204e9800998ecf8427e
da39a3ee5e6b4b0d3255bfef95601890afd80709
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
01ARZ3NDEKTSV4RRFFQ69G5FAV
cjld2cjxh0000qzrmn831i7rn
V1StGXR8_Z5jdHi6B-myT
req_011CQkRWZbQ4cG6gC5bvE1dM
chatcmpl-9abCDeFGhijKLmnOPqrsTUvwx
resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b
call_abc123def456
toolu_01A09q90qw90lq917835lq9
msg_01XFDUDYJgAACzvnptvVoYEL
run_2026_11_22_0001
cus_9s6XKzkNRiz8i3
ch_3MmlLrLkdIwHu7ix0snN0B15
pi_3MtwBwLkdIwHu7ix28a3tqPa
price_1MoBy5LkdIwHu7ixZhnattbh
acct_1032D82eZvKYlo2C
AC0123456789abcdef0123456789abcdef
i-0abcd1234efgh5678
arn:aws:iam::123456789012:role/deploy
projects/acme-prod/locations/europe-west3
gpt-4o-mini-2024-07-18
claude-sonnet-4-20250514
gemini-2.5-flash-preview-09-2025
text-embedding-3-small
llama-3.3-70b-versatile
qwen2.5-coder-32b-instruct
kintsugi-2.0.0-beta.14
v1.0-rc1
1.2.3-alpha.4+build.567
node_modules/.pnpm/effect@4.1.0/node_modules/effect
`

const urls = `
https://example.com
https://example.com/
https://example.com:8080/path
http://localhost:3000/health
https://host:8080/@user/notes
https://medium.com/@author/a-title-4f2d
https://github.com/acme/app/pull/42#issuecomment-1234567890
ssh://git@github.com/acme/app.git
git@github.com:acme/app.git
https://git@github.com/acme/app.git
ftp://anonymous@ftp.example.org/pub
mailto:ann@example.org
postgres://localhost:5432/orders
postgres://orders@localhost/orders
redis://cache:6379/0
s3://bucket/2026/11/22/report.parquet
file:///var/log/app.log
jdbc:postgresql://db:5432/orders
data:text/plain,hello
urn:isbn:0451450523
https://example.com/search?q=key+value&page=2
https://example.com/items?sort=price&limit=50
https://example.com/items?sort_key=date&order=desc
https://example.com/list?key=name
https://example.com/list?key=value&other=1
https://example.com/page?token=EOF
https://example.com/page?session=2
https://example.com/login?next=%2Fhome
https://example.com/oauth/authorize?response_type=code&client_id=web
https://example.com/cb?code=42
https://example.com/doc?version=2026-11-22
https://maps.example.com/?ll=48.1,17.1&z=12
https://example.com/a?b=c;d=e
https://user-images.example.com/1/2-3.png?s=80
https://sentry.io/organizations/acme/issues/?project=2
wss://stream.example.com/v1?channel=orders
https://[2001:db8::1]:8443/status
http://192.168.0.1:8080/admin
//cdn.example.com/lib.js
example.com/path?utm_source=news&utm_medium=mail
`

const sentences = `
a bearer token is needed, or basic authentication
the bearer of this letter
Bearer authentication is required
Bearer tokens expire after an hour
use Basic authentication
Basic usage is shown below
basic understanding of schedules
Authorization: required
Authorization: Bearer token
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: none
authorization: denied
the header Authorization is missing
Set the Authorization header to "Bearer " followed by your key.
the cookie banner covers the button
Cookie: accepted
password: Missing key, got nothing
password: Expected string, got number 3
password must have at least 8 characters
password=required
your password has expired
the password field is required
Invalid token: exceeds the maximum context
token: Unexpected token } in JSON at position 42
Unexpected token '<', "<!DOCTYPE "... is not valid JSON
pageToken: Expected string, got number 3
next_page_token: null
the token limit is 128000
secret: Expected string, got nothing
secret=optional
the secret of good tools is a good description
secrets are kept in a vault
use a key-value store; the key is 'name'
key: Expected "a" | "b", got string "c"
key=name
duplicate key value violates unique constraint "pk_customers"
Key (id)=(42) already exists.
foreign key constraint fails on fk_orders_customer_id
api_key: Missing key, got nothing
api_key is required
Incorrect API key provided
the API key was revoked on 2026-11-22
signature: Expected string, got nothing
signature: HmacSHA256
Signature verification failed for release v1.2.3
session: not found
session expired after 30 minutes
credentials: include
credentials are missing
see https://host:8080/@user/notes and mailto:someone@example.org
the file sk_translations.json has 12 errors
table pk_customers has no column 'email'
invoice PK-2027-000123 was paid
order SK-2026-14 is late
select * from pk_customers where id = 42
git checkout -b sk-translations-2026
the branch key-2024-01-15 is ahead of main
fw_update_2026 was rolled back
expected "sk" or "cs", got "pl"
locale sk-SK falls back to en
user@example.org has no access
contact ops@example.org or call +421 2 123 456
ratio 3:4, at 10:30:15
a:b, c:d
10.0.0.1:5432 refused the connection
ECONNREFUSED 127.0.0.1:5432
connect ETIMEDOUT 10.0.0.12:443
getaddrinfo ENOTFOUND db.internal
Request failed with status code 503
429 Too Many Requests, retry after 20 s
The engine is currently overloaded, please try again later
This model's maximum context length is 128,000 tokens
Rate limit reached for gpt-4o in organization org-acme on tokens per min (TPM)
error: column "password_hash" does not exist
SyntaxError: Unexpected end of JSON input
TypeError: Cannot read properties of undefined (reading 'key')
RangeError: Maximum call stack size exceeded
ValidationError: "apiKey" is not allowed
KeyError: 'token'
NullPointerException at com.example.AuthFilter.doFilter(AuthFilter.java:42)
at Object.<anonymous> (/srv/app/dist/index.js:10:15)
exit status 128: fatal: could not read Username
chmod 600 id_rsa
ssh-keygen -t ed25519 -C "ann@example.org"
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
BEGIN PRIVATE KEY is the first line of a key file
the PRIVATE KEY block is missing
export PATH=/usr/local/bin:$PATH
NODE_ENV=production
PORT=8080
LOG_LEVEL=debug
DATABASE_URL is not set
OPENAI_API_KEY is not set
set OPENAI_API_KEY=<your key>
apiKey: process.env.OPENAI_API_KEY
password: \${DB_PASSWORD}
"password": "string"
"password": "<redacted>"
"token": "end_of_turn"
"key": "value"
"secret": false
"apiKey": ""
"authorization": "optional"
{"name":"world","age":30,"active":true}
{"key":"a","value":1}
{"token":"the","logprob":-0.25}
{"sessionId":"2","status":"open"}
{"id":"req_011CQkRWZbQ4cG6gC5bvE1dM","type":"error"}
{"type":"object","properties":{"password":{"type":"string","minLength":8}}}
{"required":["apiKey","token"]}
[{"path":["token"],"expected":"string","actual":"number 3"}]
<input type="password" name="pwd">
<a href="https://example.com/?key=name">list</a>
SELECT token, key FROM sessions WHERE user_id = 7
UPDATE users SET password = NULL WHERE id = 7
Corrected: {"name":"world","age":30,"active":true}
The tool 'reset_password' failed 3 times
transient: the server is busy; safe to retry
permanent: no such order; consider asking the user for clarification
ERROR: Tool 'lookup' failed: no row (severity: HIGH). Please retry with corrected arguments.
unknown tool: get_token; available tools: token_count, key_lookup
Try again in 250 ms, at most 3 times.
deadline of 30s exceeded after 2 attempts
Order 2027-000123: 3 items, 12.50 EUR, shipped on 2026-11-22T10:15:00Z
2026-11-22T10:15:00.123Z INFO [main] started in 1.2s
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
deadbeefcafebabe
0x1f9840a85d5af5bf1d1762f925bdaddc4201f984
R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7
IBAN SK31 1200 0000 1987 4263 7541
ISBN 978-3-16-148410-0
+1 (555) 010-9999
48.1486, 17.1077
E = mc^2; F = ma
if (a == b && c != d) return e ? f : g;
const key = (token) => token.value
for (const [key, value] of Object.entries(map)) yield [key, value]
map.get("key")?.token ?? "none"
a=b&c=d
x=1;y=2;z=3
foo:bar;baz:qux
path?query#fragment
what?why=because&how=so
user:group
root:x:0:0:root:/root:/bin/bash
drwxr-xr-x 2 root root 4096 Nov 22 10:15 secrets
Content-Type: application/json; charset=utf-8
Accept: text/event-stream
Host: example.com:8080
X-Request-Id: 550e8400-e29b-41d4-a716-446655440000
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
Cache-Control: max-age=31536000, immutable
Retry-After: 120
Proxy-Authenticate: Basic realm="corp"
WWW-Authenticate: Bearer realm="api", error="invalid_token"
grant_type=authorization_code
scope=openid profile
Le mot de passe est obligatoire
Das Passwort ist zu kurz
Heslo musí mať aspoň 8 znakov
パスワードが必要です
密码不能为空
Пароль слишком короткий
المفتاح مطلوب
🔑 key: rotated
grep -l "-----BEGIN RSA PRIVATE KEY-----" *.pem && echo found
a file that begins with -----BEGIN PRIVATE KEY----- is no certificate
PWD=/home/user42/project
{"pwd":"/srv/app1"}
http://[::1]:3000/@vite/client
mongodb://h1:27017,h2:27017/db?user=a@b
kafka://b1:9092,b2:9092/t@x
file://C:/Users/me@work/notes.md
apiKey: process.env.OPENAI_KEY1
password: user.password1
"secret":"\${{ secrets.TOKEN }}"
next page token=CAUQAA2
hf_BertForSequenceClassification2
sk-kosice1234567890
MicrosoftExtensionsLogging.Konsol.FormatterConfigurationBuilder1
`

const listed = (lines: string): ReadonlyArray<string> => lines.split("\n").filter((line) => line !== "")

export const ordinaryTexts: ReadonlyArray<string> = [...listed(identifiers), ...listed(urls), ...listed(sentences)]
