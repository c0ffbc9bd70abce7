/** The errors of connections: their causes, and the ports of their peers. */
import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import * as Fault from "../../../packages/providers/src/transport/fault.ts"

const source = { provider: "p", model: "m", secrets: [] }
const asked = { source, url: new URL("https://a.test/v1/b?key=1"), method: "GET" }
const elapsed = Duration.seconds(5)

it("the port of a URL is its own, or that of its scheme", () => {
  for (const [url, port] of [
    ["https://a.test/", 443],
    ["http://a.test/", 80],
    ["https://a.test:8443/", 8443],
    ["http://a.test:443/", 443],
    ["other://a.test/", undefined]
  ] as const) {
    assert.strictEqual(Fault.portOf(new URL(url)), port, url)
  }
})

it("a request without an answer in time names its operation, and the cause if there is one [A804]", () => {
  const cause = Object.assign(new Error("no head"), { code: "UND_ERR_HEADERS_TIMEOUT" })
  const error = Fault.fromCause(cause, { ...asked, elapsed })
  assert(error._tag === "RequestTimeoutError")
  assert.strictEqual(error.cause, cause)
  const bare = Fault.timedOut(asked, elapsed)
  assert.isFalse("cause" in bare)
  for (const { model, operation, provider, timeout } of [error, bare]) {
    const facts = { operation: "GET https://a.test/v1/b", timeout: elapsed, model: "m", provider: "p" }
    assert.deepStrictEqual({ operation, timeout, model, provider }, facts)
  }
})

it("a connection to a server without a port is named by its host alone [T8]", () => {
  const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" })
  const at = (url: string) => {
    const error = Fault.fromCause(refused, { ...asked, url: new URL(url), elapsed })
    assert(error._tag === "NetworkError")
    return [error.host, error.port, error.message]
  }
  const [, , said] = at("other://a.test/")
  assert.deepStrictEqual(at("other://a.test/"), ["a.test", undefined, said])
  assert.include(said, "Connection to a.test was refused")
  const [host, port, named] = at("http://a.test/")
  assert.deepStrictEqual([host, port], ["a.test", 80])
  assert.include(named, "Connection to a.test:80 was refused")
})
