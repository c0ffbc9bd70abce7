/** Adversarial texts: each family makes one of about so many UTF-16 units. */
import type { Schema } from "effect"
import { type Inputs, mapped } from "./entry.ts"

/** The piece again and again. */
export const repeated = (piece: string, size: number): string =>
  piece.repeat(Math.ceil(Math.max(0, size) / piece.length)).slice(0, Math.max(0, size))

const of = (piece: string) => (size: number) => repeated(piece, size)

/** A beginning that no end follows. */
const brackets =
  (start: string, piece = "a") =>
  (size: number) =>
    start + repeated(piece, size - start.length)

const both = (start: string, middle: string, end: string) => (size: number) => {
  const many = Math.max(0, Math.floor((size - middle.length) / (start.length + end.length)))
  return start.repeat(many) + middle + end.repeat(many)
}

const times = <A>(size: number, length: number, make: (n: number) => A): ReadonlyArray<A> =>
  Array.from({ length: Math.floor(size / length) }, (_, n) => make(n))

const many = (size: number): Schema.JsonObject => Object.fromEntries(times(size, 10, (n) => [`k${n}`, n % 10]))

/** JSON of so many characters: each family is valid, and no deeper than what a codec lets through. */
export const documents: Inputs<string> = {
  "a long text": (size) => JSON.stringify({ a: repeated("a", size) }),
  "a text of quotes": (size) => JSON.stringify({ a: repeated('"', size / 2) }),
  "a text of JSON": (size) => JSON.stringify({ a: JSON.stringify(many(size)) }),
  "a text of tokens": (size) => JSON.stringify({ a: repeated("eyJ-", size) }),
  "a text of schemes": (size) => JSON.stringify({ a: repeated("a.", size), token: repeated("://", size / 2) }),
  "a long key": (size) => JSON.stringify({ [repeated("a", size)]: 1 }),
  "a key of keys": (size) => JSON.stringify({ [repeated("key-", size)]: 1 }),
  "many keys": (size) => JSON.stringify(many(size)),
  "many numbers": (size) => JSON.stringify(times(size, 4, (n) => n % 1000)),
  "many texts": (size) => JSON.stringify(times(size, 6, () => "abc")),
  "many objects": (size) => JSON.stringify(times(size, 12, (n) => ({ a: n % 9, b: null }))),
  "many equal objects": (size) => JSON.stringify(times(size, 20, () => ({ type: "text" }))),
  "many small depths": (size) => `[${times(size, 17, () => "[[[[[[[[]]]]]]]]").join()}]`,
  "blanks between": (size) => `{${repeated(" ", size)}}`,
  nested: (size) => `${"[".repeat(500)}"${repeated("a", size - 1002)}"${"]".repeat(500)}`
}

/** The same as values. */
export const values: Inputs<Schema.Json> = mapped(documents, (text): Schema.Json => JSON.parse(text))

/** Deeper than any stack: for what reads values that no check has bounded. */
export const deepValues: Inputs<Schema.Json> = {
  "deep lists": (size) => JSON.parse(both("[", "", "]")(size)),
  "deep objects": (size) => JSON.parse(both('{"a":', "1", "}")(size))
}

const pieces = {
  "one character": "a",
  blanks: " ",
  tabs: "\t",
  "line feeds": "\n",
  "blank lines": " \n",
  "carriage returns": "\r",
  "line separators": "\u2028",
  zeros: "0",
  digits: "1234567890",
  "digits and dots": "1.1.",
  "labels of a host": "a.",
  "signs of a scheme": "a+b.c-",
  schemes: "://",
  addresses: "a://",
  "addresses with passwords": "a://b:c",
  "names before at signs": "a:b@",
  colons: "a:",
  queries: "http://a?b=c&",
  "keys with dashes": "key-",
  "names of keys": "key",
  "keys of a kind": "sk-",
  dashes: "-",
  underscores: "_",
  "heads of tokens": "eyJ",
  "tokens without end": "eyJ-",
  "tokens of one part": "eyJhbGciOi.",
  bearers: "bearer ",
  basics: "basic ",
  passwords: "password=",
  "quoted passwords": '"password": "',
  "tokens by name": "token: ",
  "authorization by name": "authorization: ",
  cookies: "cookie: ",
  "keys in capitals": "AKIA",
  "keys of a cloud": "AIza",
  "private keys": "-----BEGIN PRIVATE KEY-----",
  quotes: '"',
  "single quotes": "'",
  "quoted words": '"a" ',
  backticks: "`",
  fences: "```",
  backslashes: "\\",
  "escaped quotes": '\\"',
  "unfinished escapes": "\\u00",
  "escaped keys": '\\"a\\":',
  "keys of JSON": '{"a":',
  "unfinished lists": "[",
  "unfinished objects": "{",
  "closing brackets": "}]",
  "objects side by side": '{"a":1}',
  "commas and words": "a,",
  "unquoted keys": "{k: '",
  comments: "/*",
  parentheses: "(call ",
  angles: "<",
  tags: "<data>",
  "words of failures": " ERROR:",
  "lines of a stack": "    at a (b.ts:1:1)\n",
  "short lines": "a\n",
  "lines of events": "data: {}\n",
  events: "data: {}\n\n",
  "unfinished events": "data:",
  "hints to wait": "retry in ",
  "amounts of time": "1h",
  "limits asked": "limit 1, requested ",
  "names of limits": "rate-limit-",
  "connections lost": "connect timed ",
  "models not found": "model not ",
  "lone surrogates": "\uD800",
  "trailing surrogates": "\uDC00",
  "pairs of surrogates": "😀",
  "letters that grow in lower case": "İ",
  "zero characters": "\0",
  sentences: "It was not there, and nothing told why. "
}

const beginnings = {
  "a text of JSON without end": '{"a":"',
  "an address without end": "https://",
  "a password without end": "https://a:",
  "a query without end": "https://a?",
  "a token without end": "eyJ",
  "a key without end": "sk-",
  "a bearer without end": "Bearer ",
  "a private key without end": "-----BEGIN PRIVATE KEY-----\n",
  "a header without end": "Authorization: ",
  "a named secret without end": "password: ",
  "a fence without end": "```json\n",
  "an event without end": "data: "
}

const keys = {
  "keys of a project": "sk-proj-",
  "keys of a repository": "ghp_",
  "tokens of a bot": "MNO.",
  "parts of a long token": `${"M".repeat(25)}.`,
  "numbers before colons": "1:AA",
  "keys of two parts": "SG.",
  "keys of two parts, one whole": "SG.aaaaaaaaaaaaaaaaaaaaaa.",
  "addresses of hooks": "hooks.slack.com/services/TAAAAAAAA/",
  "access tokens": "EAA",
  "values in a query": "?key=",
  "more values in a query": "&key=a1",
  "values that were escaped": "%26",
  "escaped fields": '\\"password\\":\\"',
  "fields of cookies": "cookie: a; ",
  "fields of cookies without blanks": "cookie:a; ",
  "pairs of cookies": "set-cookie:a;b; ",
  "escaped headers": "\\nAuthorization: ",
  "colours before keys": "\u001b[32msk-",
  "words after a scheme": "bearer aaaaaaaaaaaaaaaaa",
  "short words after a scheme": "Basic AAAA",
  "names of secrets": "token=a1",
  "heads of private keys": "-----BEGIN "
}

/** Texts that look like credentials, again and again. */
export const credentials: Inputs<string> = Object.fromEntries(
  Object.entries(keys).map(([family, piece]) => [family, of(piece)])
)

/** Texts that may be anything. */
export const texts: Inputs<string> = {
  ...Object.fromEntries(Object.entries(pieces).map(([family, piece]) => [family, of(piece)])),
  ...Object.fromEntries(Object.entries(beginnings).map(([family, start]) => [family, brackets(start)])),
  "a list of JSON without end": brackets("[", "1,"),
  "balanced lists": both("[", "", "]"),
  "balanced objects": both('{"a":', "1", "}"),
  "many keys": (size) => JSON.stringify(many(size)),
  "many keys, cut off": (size) => JSON.stringify(many(size)).slice(0, -2)
}
