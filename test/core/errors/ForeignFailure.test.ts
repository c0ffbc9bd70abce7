/** How the structure and the words of a foreign failure are read, one by one. */
import { assert, describe, it } from "@effect/vitest"
import * as ForeignFailure from "@kintsugi/core/ForeignFailure"

const { chainOf, connectionOf, of } = ForeignFailure

const codes: ReadonlyArray<readonly [connection: ReturnType<typeof connectionOf>, codes: string]> = [
  ["silent", "UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT"],
  ["oversized", "UND_ERR_HEADERS_OVERFLOW HPE_HEADER_OVERFLOW"],
  ["lost", "ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET ERR_STREAM_PREMATURE_CLOSE ConnectionClosed ConnectionReset"],
  ["slow-connect", "UND_ERR_CONNECT_TIMEOUT ConnectionTimeout ERR_SOCKET_CONNECTION_TIMEOUT"],
  ["refused", "ECONNREFUSED ConnectionRefused"],
  ["unresolved", "ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA EAI_NONAME DNSException DNSLookupFailed"],
  ["unreachable", "EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN EADDRNOTAVAIL"],
  [
    "untrusted",
    "CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_UNTRUSTED DEPTH_ZERO_SELF_SIGNED_CERT ERR_TLS_CERT_ALTNAME_INVALID"
  ],
  [
    "untrusted",
    "SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE"
  ]
]

const words: ReadonlyArray<readonly [connection: ReturnType<typeof connectionOf>, messages: ReadonlyArray<string>]> = [
  [
    "slow-connect",
    [
      "connect timed out",
      "Connecting to h: time out",
      "connection: timeout",
      "could not connect: deadline has elapsed",
      "read timed out, connect timed out",
      `connect ${"x".repeat(192)}timed out`
    ]
  ],
  ["refused", ["Connection refused", "it actively refused it", "Unable to connect"]],
  ["unresolved", ["DNS error", "failed to lookup address", "Name or service not known", "name resolution failed"]],
  ["unreachable", ["No route to host", "network unreachable", "Network is unreachable", "host is unreachable"]],
  [
    "untrusted",
    [
      "invalid peer certificate",
      "certificate expired",
      "certificate has expired",
      "self signed certificate",
      "self-signed certificate"
    ]
  ],
  ["silent", ["headers timeout", "Body timed out", "read time out", "request timedout", "The operation timed out"]],
  [
    "lost",
    [
      "connection closed",
      "Connection was reset",
      "connection aborted",
      "connection error",
      "connection lost",
      "forcibly closed",
      "broken pipe",
      "other side of the socket",
      "terminated",
      "error reading a body",
      "closed before message completed",
      "unexpected EOF",
      "handshake eof",
      "network error"
    ]
  ],
  [
    "broken",
    [
      "",
      "it failed",
      "timed out",
      "connectTimedOut",
      "disconnected",
      "timed out: connect it",
      `connect ${"x".repeat(193)}timed out`,
      "deadline has not elapsed",
      "headers are late",
      "connection is fine",
      `${"x".repeat(2000)} connection refused`
    ]
  ]
]

describe("a connection", () => {
  it.each(codes)("is %s by a code, a name or a tag [P1333]", (connection, all) => {
    for (const code of all.split(" "))
      for (const key of ["code", "name", "_tag"]) {
        const failure = { [key]: code }
        assert.strictEqual(connectionOf(failure), connection, code)
        assert.strictEqual(connectionOf({ cause: failure }), connection, code)
        assert.deepStrictEqual(of(failure), { type: "connection", connection })
      }
  })

  it.each(words)("is %s by its words [P1333]", (connection, messages) => {
    for (const message of messages) {
      assert.strictEqual(connectionOf(new Error(message)), connection, message)
      assert.strictEqual(connectionOf(message), connection, message)
      assert.strictEqual(connectionOf({ cause: { cause: message } }), connection, message)
      assert.isUndefined(of(new Error(message)), message)
      const fetched = new TypeError("Failed to fetch", { cause: message })
      assert.deepStrictEqual(of(fetched), { type: "connection", connection }, message)
    }
  })

  it("that takes too long depends on the call that did, and on who reports it [P1333]", () => {
    const timedOut = { name: "Error", code: "ETIMEDOUT" }
    for (const [failure, connection] of [
      [timedOut, "slow-connect"],
      [{ ...timedOut, syscall: "connect" }, "slow-connect"],
      [{ ...timedOut, name: "AxiosError", syscall: "connect" }, "slow-connect"],
      [{ ...timedOut, syscall: "read" }, "silent"],
      [{ ...timedOut, name: "AxiosError" }, "silent"],
      [{ name: "TimeoutError", message: "it is late" }, "silent"],
      [{ name: "TimeoutError", message: "connection lost" }, "silent"],
      [{ name: "TimeoutError", message: "connection refused" }, "refused"]
    ] as const) {
      assert.strictEqual(connectionOf(failure), connection)
      assert.deepStrictEqual(of(failure), { type: "connection", connection })
    }
  })

  it("is named by the first of several codes, and codes come before words [P1333]", () => {
    const errors = ["ECONNREFUSED", "ECONNRESET"].map((code) => ({ code }))
    assert.strictEqual(connectionOf({ errors }), "lost")
    assert.strictEqual(connectionOf({ code: "ECONNREFUSED", message: "connection lost" }), "refused")
  })

  it("is that of a failure which says nothing more [P1333]", () => {
    for (const name of ["TransportError", "SocketError", "ERR_NETWORK", "AbortError"])
      assert.deepStrictEqual(of({ name }), { type: "connection", connection: "broken" })
    for (const message of [
      "fetch failed",
      "error sending request for url",
      "Failed to fetch",
      "NetworkError when attempting to fetch",
      "Load failed"
    ]) {
      assert.deepStrictEqual(of(new TypeError(message)), { type: "connection", connection: "broken" })
      for (const other of [new Error(message), new TypeError(`so ${message}`)]) assert.isUndefined(of(other))
    }
    assert.isUndefined(of({ name: "TypeError", message: 5 }))
  })

  it("is not read from words that are no texts, nor from a reason that is one [P1333]", () => {
    for (const failure of [{ message: 5 }, { reason: "connection refused" }, { code: 5 }, undefined, null, 5])
      assert.strictEqual(connectionOf(failure), "broken")
    assert.strictEqual(connectionOf({ reason: { message: "connection refused" } }), "refused")
  })
})

describe("a status", () => {
  it("is that of the failure, of its response or of its metadata, from 400 to 599 [P1333]", () => {
    for (const status of [400, 404, 599])
      for (const failure of [
        { status },
        { statusCode: status },
        { response: { status } },
        { response: { statusCode: status } },
        { $metadata: { httpStatusCode: status } },
        { cause: { status } },
        { status: 200, statusCode: status }
      ])
        assert.deepStrictEqual(of(failure), { type: "status", status })
    for (const status of [399, 600, 404.5, NaN, "404", null])
      for (const failure of [{ status }, { response: { statusCode: status } }]) assert.isUndefined(of(failure))
  })

  it("comes before a code, and with the wait of its headers [P1333]", () => {
    const headers = { "retry-after": "7" }
    const wanted = { type: "status", status: 503, retryAfter: "7" } as const
    for (const failure of [
      { status: 503, code: "ECONNRESET", headers },
      { status: 503, response: { headers } },
      { status: 503, response: { headers }, headers: { "retry-after": "9" } },
      { status: 503, headers: new Headers(headers) },
      { response: { status: 503, headers: new Headers(headers) } }
    ])
      assert.deepStrictEqual(of(failure), wanted)
    const throwing = {
      get: () => {
        throw new Error("no")
      }
    }
    for (const odd of [{ "retry-after": 7 }, {}, { get: 5 }, { get: () => 7 }, throwing, new Headers(), null, "7"])
      assert.deepStrictEqual(of({ status: 503, headers: odd }), { type: "status", status: 503 })
  })
})

it.each([
  ["input", "ENOENT ENOTDIR EISDIR EEXIST ENOTEMPTY ENAMETOOLONG ERR_INVALID_URL InvalidUrlError"],
  ["access", "EACCES EPERM EROFS"],
  ["busy", "EAGAIN EBUSY EMFILE ENFILE"]
] as const)("the system refuses because of %s [P1333]", (refused, all) => {
  for (const code of all.split(" ")) {
    assert.deepStrictEqual(of({ code }), { type: "system", refused }, code)
    assert.strictEqual(connectionOf({ code }), "broken")
  }
})

it("the chain of a failure has each of its causes once, the nearest first [P1333]", () => {
  const deepest = { message: "deepest" }
  const reason = { cause: deepest }
  const members = [{ cause: deepest }, "text"]
  const failure = { errors: members, reason, cause: "because" }
  assert.deepStrictEqual(chainOf(failure), [failure, ...members, reason, "because", deepest])
  assert.deepStrictEqual(chainOf("text"), ["text"])
  for (const nothing of [undefined, null, { cause: null, reason: null, errors: [undefined] }])
    assert.deepStrictEqual(chainOf(nothing), typeof nothing === "object" && nothing !== null ? [nothing] : [])
  const many = { errors: Array.from({ length: 1_000_000 }, (_, index) => index), cause: deepest }
  assert.deepStrictEqual(chainOf(many), [many, ...many.errors.slice(0, 99)])
  assert.deepStrictEqual(chainOf({ errors: "no list" }), [{ errors: "no list" }])
})
