/** Who gets to the backend, who decides, and how long runs wait for that. */
import { assert, it } from "@effect/vitest"
import { Approval, type Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Client from "@kintsugi/examples/backend/client"
import { access, layerSuspended } from "@kintsugi/examples/backend/config"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { request } from "node:http"
import { raw, serving, till, token } from "./_support/backendServer.ts"

const { call, calls, make, text } = ScriptedModel

const refunding = calls(call("refund", { orderId: "B-4", cents: 78_000 }))

interface Answered {
  readonly status: number | undefined
  readonly type: string | undefined
  readonly text: string
}

/** As a browser sends it: `fetch` of Node keeps the header `Host` to itself. */
const sent = (url: string, path: string, headers: Readonly<Record<string, string>>, body?: object) =>
  Effect.callback<Answered>((resume) => {
    const method = body === undefined ? "GET" : "POST"
    const sending = request(`${url}${path}`, { method, headers: { "content-type": "application/json", ...headers } })
    sending.on("error", (error) => resume(Effect.die(error)))
    sending.on("response", (response) => {
      const pieces: Array<string> = []
      response.on("data", (piece) => pieces.push(String(piece)))
      response.on("end", () =>
        resume(
          Effect.succeed({
            status: response.statusCode,
            type: response.headers["content-type"],
            text: pieces.join("")
          })
        )
      )
    })
    sending.end(body === undefined ? undefined : JSON.stringify(body))
  })

const requestsOf = ({ waiting }: { readonly waiting: ReadonlyArray<Snapshot.Waiting> }) =>
  waiting.flatMap((one) => (one.type === "approval" ? [one.request] : []))

const newRun = { input: "What is order A-17?" }

it.effect("backend: a name that is not its own is refused on every route, with any origin [P1387]", () =>
  Effect.gen(function* () {
    const { events, url } = yield* serving((yield* make()).layer)
    const { port } = new URL(url)
    const rebound = [
      "evil.example",
      `evil.example:${port}`,
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "a@localhost",
      "[::2]"
    ]
    for (const host of rebound) {
      // what leads to a name by a trick is no origin of a browser
      const page = /^[\w.:-]+$/.test(host) ? { origin: `http://${host}`, "sec-fetch-site": "same-origin" } : {}
      const headers = { host, ...page }
      for (const call of [
        sent(url, "/runs", headers, newRun),
        sent(url, "/runs/stream", headers, newRun),
        sent(url, "/approvals/one", headers),
        sent(url, "/live", headers),
        sent(url, "/metrics", headers),
        sent(url, "/nowhere", headers)
      ]) {
        const { status, type } = yield* call
        assert.deepStrictEqual([host, status, type], [host, 421, "application/problem+json"])
      }
    }
    assert.deepStrictEqual(events, [])
  })
)

it.effect("backend: its own names are taken with any port, and an origin has to be the same [P1387]", () =>
  Effect.gen(function* () {
    const { url } = yield* serving((yield* make(text("A lamp."), text("A lamp."), text("A lamp."))).layer)
    const { port } = new URL(url)
    for (const host of [`127.0.0.1:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
      assert.strictEqual((yield* sent(url, "/health", { host })).status, 200, host)
      const own = { host, origin: `http://${host.toLowerCase()}` }
      assert.strictEqual((yield* sent(url, "/runs", { ...own, host: host.toLowerCase() }, newRun)).status, 200, host)
      const other = yield* sent(url, "/runs", { host, origin: "http://evil.example" }, newRun)
      assert.deepStrictEqual([other.status, other.type], [403, "application/problem+json"], host)
    }
  })
)

it.effect("backend: approvals are closed without the token, for those who look and those who decide [P1387]", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const { ask, client, url } = yield* serving((yield* make(refunding, text("Done."))).layer, layer)
    const ending = yield* ask("Refund order B-4.")
    assert(ending._tag === "Waiting")
    const path = `/approvals/${ending.run}`
    const decisions = requestsOf(ending).map(({ digest }) => ({ digest, decision: { type: "approve" } }))
    const right = Redacted.value(token)
    const wrong = ["", right.slice(1), `${right}x`, right.toUpperCase(), `${right.slice(0, -1)}x`, "x".repeat(10_000)]
    for (const authorization of [undefined, right, `Basic ${right}`, ...wrong.map((one) => `Bearer ${one}`)]) {
      const headers = { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) }
      const deciding = raw(url, `${path}/decisions`, { headers, method: "POST", body: JSON.stringify({ decisions }) })
      for (const sending of [raw(url, path, { headers }), deciding, raw(url, "/approvals", { headers })]) {
        const refused = yield* sending
        assert.strictEqual(refused.status, 401, authorization)
        assert.strictEqual(refused.headers.get("content-type"), "application/problem+json")
        assert.strictEqual(refused.headers.get("www-authenticate"), "Bearer")
        assert.include(refused.text, "Approvals need the token of this server")
        assert.notInclude(refused.text, "78000")
      }
    }
    const stranger = yield* Effect.provide(Client.make(url), FetchHttpClient.layer)
    const params = { run: ending.run }
    assert.strictEqual((yield* Effect.flip(stranger.approvals.show({ params })))._tag, "UnauthorizedError")
    assert.deepStrictEqual(paid, [])
    const [first] = requestsOf(ending)
    assert.isDefined(first)
    const payload = { decisions: [{ digest: first!.digest, decision: Approval.approve }] as const }
    assert.strictEqual((yield* client.approvals.decide({ params, payload }))._tag, "Answered")
    assert.strictEqual(paid.length, 1)
  })
)

it.effect("backend: a run that waits for too long is no more [P1387]", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const suspended = AgentRuns.layerSuspendedMemory({ maxAge: Duration.days(3), maxRuns: 10 })
    const { ask, client } = yield* serving((yield* make(refunding)).layer, layer, suspended)
    const ending = yield* ask("Refund order B-4.")
    assert(ending._tag === "Waiting")
    const params = { run: ending.run }
    yield* TestClock.adjust(Duration.millis(Duration.toMillis(Duration.days(3)) - 1))
    assert.strictEqual((yield* client.approvals.show({ params })).run, ending.run)
    yield* TestClock.adjust("1 millis")
    const [first] = requestsOf(ending)
    const payload = { decisions: [{ digest: first?.digest ?? "", decision: Approval.approve }] as const }
    for (const call of [client.approvals.show({ params }), client.approvals.decide({ params, payload })]) {
      const expired = yield* Effect.flip(call)
      assert(expired._tag === "RunNotFoundError")
      assert.deepStrictEqual([expired.status, expired.run], [404, ending.run])
    }
    assert.deepStrictEqual(paid, [])
  })
)

it.effect("backend: the environment has names, token and limits, and a short token is refused [P1387]", () =>
  Effect.gen(function* () {
    const within = (env: Record<string, string>) =>
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
    const none = yield* within({})(access)
    assert.deepStrictEqual([[...none.hosts], none.token], [["localhost", "127.0.0.1", "[::1]"], undefined])
    const given = yield* within({ HOSTS: "Desk.example, 10.0.0.7", APPROVAL_TOKEN: Redacted.value(token) })(access)
    assert.includeMembers([...given.hosts], ["desk.example", "10.0.0.7", "localhost"])
    assert.isTrue(Redacted.isRedacted(given.token))
    assert.strictEqual(JSON.stringify(given).includes(Redacted.value(token)), false)
    const tokens = `ada=${Redacted.value(token)},bob=${Redacted.value(token)}2`
    const { customers } = yield* within({ CUSTOMER_TOKENS: tokens })(access)
    assert.deepStrictEqual(
      customers.map(({ name, token }) => [name, Redacted.value(token)]),
      [
        ["ada", Redacted.value(token)],
        ["bob", `${Redacted.value(token)}2`]
      ]
    )
    const guessed = yield* Effect.flip(within({ CUSTOMER_TOKENS: "ada=secret" })(access))
    assert.strictEqual(guessed._tag, "ConfigError")
    assert.notInclude(String(guessed), "secret")
    const short = yield* Effect.flip(within({ APPROVAL_TOKEN: "secret" })(access))
    assert.strictEqual(short._tag, "ConfigError")
    assert.notInclude(String(short), "secret")
    const failed = yield* Effect.flip(
      AgentRuns.SuspendedRuns.use(() => Effect.void).pipe(
        Effect.provide(layerSuspended),
        within({ WAITING_COUNT: "0" })
      )
    )
    assert.strictEqual(failed._tag, "ConfigError")
  })
)
