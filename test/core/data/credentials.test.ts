/** In which places of a foreign text a credential is replaced, and where nothing is. */
import { assert, describe, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"

/** A text in which the credential stands between `«` and `»`. Where there are none, the text stays. */
const reads = (written: string): void => {
  const text = written.replaceAll(/[«»]/g, "")
  assert.strictEqual(Redaction.foreign(text), written.replaceAll(/«[^»]*»/g, Redaction.mark), text)
}

/** 16 characters, as a key has. */
const key = "q7Lw2Zr9Xk4Tm8Vb"

const cases = (what: string, all: ReadonlyArray<string>) =>
  it(`${what} [P1331]`, () => {
    for (const one of all) reads(one)
  })

describe("headers", () => {
  cases("have a credential, of any characters", [
    ...[
      "authorization",
      "Proxy-Authorization",
      "x-auth-token",
      "api-key",
      "x-api-key",
      "ocp-api-key",
      "X-Goog-Api-Key"
    ].map((name) => `${name}: «q7Lw2&Zr9#Xk4»`),
    `Authorization: Token «${key}», next`,
    `Authorization: AWS4-HMAC-SHA256 «Credential=abcdef», SignedHeaders=host`,
    `Authorization:\t"Bearer «abcdefgh»"`,
    `{"Authorization":["Token «${key}»"]}`,
    "Authorization: Bearer «abcdefgh»",
    "Authorization: Bearer «abcd1f»",
    "x-auth-token: «hunter2a»",
    "x-api-key: «hunter2a» user=ann",
    "x-api-key: «hunter2» user=ann"
  ])
  cases("of other names have none", [
    ...["xauthorization", "authorizations", "x-authorization", "x-auth-tokens", "ax-auth-token"].map(
      (name) => `${name}: Token ${key}`
    ),
    `Author: Token ${key}`,
    `the Authorization header has ${key}`
  ])
  cases("have none if the value is short, a word, or stands for one", [
    "x-auth-token: hunter2",
    "x-auth-token: abcdefgh",
    "x-auth-token: 12345678",
    "Authorization: Bearer abc12",
    "Authorization: Bearer $TOKEN1",
    "Authorization: Bearer %s-12345",
    ...[
      "token",
      "tokens",
      "Token.",
      "authentication",
      "authorization",
      "required",
      "credential",
      "credentials:",
      "header"
    ].map((word) => `Authorization: Bearer ${word}`),
    "Authorization: Please provide the key",
    "Authorization: is missing. See below",
    "Authorization: Bearer abcdef) and so on",
    `Authorization: 1Token ${key.slice(0, 6)} x`
  ])
  cases("with cookies have them up to the last one", [
    "Cookie: «a=1; theme=dark»",
    "Set-Cookie: «sid=hunter2; Path=/; Secure»",
    'Cookie: "«a=1;b=2»"',
    "Cookie: «a=1; » b=2",
    "Cookie: none",
    "Cookie: ",
    "cookies: a=1",
    "say Cookie: «a=1» then"
  ])
})

describe("schemes outside of headers", () => {
  cases("have a credential that is no word", [
    "sent Bearer «abcdefgh12345678» to it",
    "sent bearer «abcdefgh12345678»",
    "sent Bearer abcdefgh1234567 to it",
    "sent Bearer abcdefghijklmnop to it",
    "sent Bearer 1234567812345678 to it",
    "sent Basic «dXNlcjpwYXNz» to it",
    "sent basic «dXNlcjpwYXNz.» It",
    "sent Basic dTpwYXM to it",
    "sent Basic «dTpwYXNz» to it",
    `sent Basic ${btoa("user, pass")} to it`,
    `sent Basic ${btoa("user:\u0001ass")} to it`,
    `sent Basic ${btoa("\u0001ser:pass")} to it`,
    "sent Basic dXNlcjpwYXNza to it",
    "xBearer abcdefgh12345678",
    "sent Bear abcdefgh12345678"
  ])
})

describe("parameters", () => {
  const strict = [
    "api-key api_key apikey access_token auth-token refreshtoken id_token session-token securitytoken x-amz-security-token",
    "secret clientsecret client_secret client-secret passwd password pwd sig signature x-amz-signature x-goog-signature",
    "x-amz-credential X-Goog-Credential secretkey secret_key private-key subscription-key"
  ].flatMap((names) => names.split(" "))
  cases("of these names have a credential, however short", [
    ...strict.flatMap((name) => [`/v1?a=1&${name}=«abc»&b=2`, `/v1?${name}=«abc»#top`, `a=1;${name}=«abc»;b=2`]),
    "next=%2Fcb%3Fsig=«abc»",
    "next=%2Fcb%26sig=«abc»",
    "next=%2Fcb%3bsig=«abc»",
    "/v1?pwd=«abc»",
    "/v1?sig=&a=1"
  ])
  cases("of similar names have none", [
    ..."xapi_key api_keys api.key access.token client.secret passord password2 sigs xsig x-aws-signature x-amz.credential"
      .split(" ")
      .map((name) => `/v1?a=1&${name}=abc&b=2`),
    ..."public_key subscription.key xsecret_key asecret".split(" ").map((name) => `/v1?${name}=abc`),
    "/v1,sig=abc",
    "next=%2Fcb%2Csig=abc",
    "next=%2Fcb%2526sig=abc",
    "/v1?pwd=/home/ann",
    "/v1?pwd=~/x",
    "pwd=C:\\Users1",
    "pwd=d:/Users1"
  ])
  cases("of these names have one if the value is like a key", [
    ..."key token auth session sessionid sid credential credentials code"
      .split(" ")
      .flatMap((name) => [
        `/v1?a=1&${name}=«a1b2c3d4»&b=2`,
        `/v1?${name}=a1b2c3d`,
        `/v1?${name}=abcdefgh`,
        `/v1?${name}=12345678`
      ]),
    ..."keys monkey tokens authx sessions sids codec xcode".split(" ").map((name) => `/v1?${name}=a1b2c3d4`)
  ])
})

describe("settings", () => {
  const settings = [
    "api_key apikey api-key MY_API_KEY a_b_c_api_key client_secret clientsecret client-secret passwd password db_password",
    "secret_key secretkey secret_access_key secretaccesskey secret-accesskey access_token accesstoken auth-token refresh_token",
    "passphrase pwd"
  ].flatMap((names) => names.split(" "))
  cases("of these names have a credential that is no word", [
    ...settings.flatMap((name) => [`${name}=«hunter2» user=ann`, `${name}: «hunter2», next`]),
    "password='«hunter2»'",
    `${"a".repeat(20)}_${"b".repeat(20)}_${"c".repeat(20)}_secret_access_key=«hunter2»`,
    'password: "«hunter2»"',
    "password='«hunte2»'",
    "password=hunt2",
    "password=hunters",
    "password=1234567",
    "password=  hunter2",
    String.raw`x\npassword=«hunter2»`,
    String.raw`x\tpwd=«hunter2»`
  ])
  cases("of similar names have none", [
    `${"a".repeat(21)}_${"b".repeat(11)}_api_key=hunter2 user=ann`,
    ..."passwords mypassphrase passphrases xaccess_token access_tokens a_b_c_d_api_key secret_accesskeys pwds secrets secret"
      .split(" ")
      .map((name) => `${name}=hunter2 user=ann`)
  ])
  cases("of tokens and signatures have one that is as long as a key, behind an equals sign", [
    ..."token my_token a_b_c_token signature"
      .split(" ")
      .flatMap((name) => [
        `${name}=«abcdef123456» next`,
        `${name}=abcdef12345 next`,
        `${name}=abcdefghijkl next`,
        `${name}: abcdef123456 next`
      ]),
    ..."tokens signatures xsignature a_b_c_d_token".split(" ").map((name) => `${name}=abcdef123456 next`)
  ])
  cases("that only name a secret have none", [
    "password=config.password1",
    "password=process.env.DB_PASSWORD_1",
    "password=a.key123456789012",
    "password=«a.key1234567890123»",
    "password=«config.hunter2»",
    "password=«1config.password»",
    "password=«config-password1»",
    `password=a1${"a".repeat(69)}.password`,
    `password=«a1${"a".repeat(70)}.password»`
  ])
})

describe("fields of JSON", () => {
  const fields = [
    "api_key apikey api-key access_token authtoken refresh-token id_token secret client_secret clientSecret passwd password pwd",
    "secret_key secretkey private-key privatekey accountkey account_key secret_access_key secretAccessKey authorization"
  ].flatMap((names) => names.split(" "))
  cases("of these names have a credential", [
    ...fields.map((name) => `{"${name}":"«hunter-to»","a":1}`),
    ...fields.map((name) => String.raw`{\"${name}\":\"«hunter-to»\",\"a\":1}`),
    "{'password': '«hunter-to»'}",
    '{"password" :"hunter-to"}',
    '{"password":\t "«hunter-to»"}',
    '{"password":   "hunter-to"}',
    '{"password":"«hunter-to»',
    String.raw`{"password":"«hunter-\"to»","a":"b"}`,
    String.raw`{\"password\":\"«hunter-\\\"to»\",\"a\":\"b\"}`,
    String.raw`{"password":"«hunter-to\\\"»"}`,
    '{"password":"«hunte2»"}',
    '{"password":"hunt2"}',
    '{"password":"«open/sesame 1»"}'
  ])
  cases("of similar names, of sentences and of types have none", [
    ..."xapi_key api_keys api.key passwords id.token xsecret public_key authorizations aclient_secret"
      .split(" ")
      .map((name) => `{"${name}":"hunter-to"}`),
    '{"password":"must be 8 long"}',
    '{"password":"string"}',
    '{"password":hunter-to}'
  ])
  cases("that stand for a value have none", [
    '{"password":"${PASS_1}"}',
    '{"password":"$(pass-1)"}',
    '{"password":"{{pass-1}}"}',
    '{"password":"<pass-1>"}',
    '{"password":"config.password"}',
    '{"password":"«{pass-1}»"}'
  ])
  cases("called token have one that is as long as a key", [
    '{"token":"«abcdef123456»"}',
    '{"token":"abcdef12345"}',
    '{"token":"abcdefghijk-"}',
    '{"tokens":"abcdef123456"}'
  ])
})

describe("addresses", () => {
  cases("have a user and a password, or a token", [
    "https://«admin:hunter2»@host/path",
    "https://«admin:12345»@host/path",
    "https://«admin:12345abc»@host/path",
    "postgres://«u:p/a@ss»@host/db",
    "postgres://«u:p/a@ss»@host/db and postgres://«u:p2»@host/db",
    "https://«abcdefgh1234»@host/path",
    "https://abcdefgh123@host/path",
    "https://abcdefghijkl@host/path",
    "git+https://«u:p1»@host"
  ])
  cases("have none without an at sign, in brackets, in files and before ports", [
    "https://host/path",
    "https://host:word/path",
    "https://[::1]:80/x@y",
    "file://a:b@c",
    "https://host:8080/x@y",
    "https://host:8080?x@y",
    "https://host:8080#x@y",
    "https://host:8080,x@y",
    "https://host:8080",
    "https://host:8080 mail x@y",
    "://admin:hunter2@host",
    "https://@host:hunter2"
  ])
})
