import { assert, it } from "@effect/vitest"
import { AgentEvent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Recording } from "@kintsugi/view"
import { Effect, Redacted, Schema } from "effect"
import { raw, serving } from "./_support/backendServer.ts"

const { call, calls, make, text } = ScriptedModel

const form = "application/x-www-form-urlencoded"

const post = (url: string, body: string, headers: Readonly<Record<string, string>>) =>
  raw(url, "/live", { method: "POST", body, headers: { "content-type": form, ...headers } })

it.effect("backend: a page takes an input, and starts nothing by itself [P1245]", () =>
  Effect.gen(function* () {
    const { events, url } = yield* serving((yield* make()).layer)
    const page = yield* raw(url, "/live")
    assert.strictEqual(page.status, 200)
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
    assert.strictEqual(page.headers.get("content-security-policy"), "frame-ancestors 'none'")
    assert.strictEqual(page.headers.get("cache-control"), "no-store")
    // by "no-referrer" a browser would send the form with the origin "null", which is refused
    assert.strictEqual(page.headers.get("referrer-policy"), "same-origin")
    assert.include(page.text, '<form method="post" action="/live">')
    assert.strictEqual((yield* raw(url, "/favicon.ico")).status, 204)
    assert.deepStrictEqual(events, [])
  })
)

it.effect("backend: its own form is answered with a page that reads the events route [P1245]", () =>
  Effect.gen(function* () {
    const { events, url } = yield* serving((yield* make()).layer)
    const page = yield* post(url, `input=${encodeURIComponent("</script><b>A-17</b>?")}`, { origin: url })
    assert.strictEqual(page.status, 200)
    assert.strictEqual(page.headers.get("cache-control"), "no-store")
    assert.include(page.text, "connect-src 'self'")
    assert.notInclude(page.text, "<b>A-17")
    const data = /<script type="application\/json" id="data">([^<]*)<\/script>/.exec(page.text)?.[1] ?? ""
    assert.deepStrictEqual(JSON.parse(data), {
      title: "A run of the desk",
      url: "/runs/stream",
      body: { input: "</script><b>A-17</b>?" }
    })
    // the page starts the run, not the server that makes it
    assert.deepStrictEqual(events, [])
  })
)

it.effect("backend: a form of another site, or of none, starts nothing [P1245]", () =>
  Effect.gen(function* () {
    const { events, url } = yield* serving((yield* make()).layer)
    const foreign = [
      { origin: "https://elsewhere.example" },
      { origin: "null" },
      { origin: `${url}0` },
      { origin: url.replace(/^http:/, "ftp:") },
      // its own name, but not by its own scheme: only the browser can tell
      { origin: url.replace(/^http:/, "https:"), "sec-fetch-site": "cross-site" }
    ]
    for (const headers of [...foreign, {}]) {
      const refused = yield* post(url, "input=refund", headers)
      assert.strictEqual(refused.status, 403)
      assert.strictEqual(refused.headers.get("content-type"), "application/problem+json")
    }
    for (const body of ["", "input=", `input=${"a".repeat(4001)}`]) {
      assert.strictEqual((yield* post(url, body, { origin: url })).status, 400)
    }
    const stray = yield* raw(url, "/live", { method: "PUT" })
    assert.deepStrictEqual([stray.status, stray.headers.get("allow")], [405, "GET, POST, HEAD"])
    assert.deepStrictEqual(events, [])
  })
)

it.effect("backend: a script of another site starts no run, and what is no browser does [P1245]", () =>
  Effect.gen(function* () {
    const { events, url } = yield* serving((yield* make(text("A lamp."), text("A lamp."))).layer)
    const ask = (path: string, headers: Readonly<Record<string, string>>) =>
      raw(url, path, {
        method: "POST",
        body: JSON.stringify({ input: "What is order A-17?" }),
        headers: { "content-type": "application/json", ...headers }
      })
    for (const path of ["/runs", "/runs/stream"]) {
      const refused = yield* ask(path, { origin: "https://elsewhere.example" })
      assert.strictEqual(refused.status, 403)
      assert.strictEqual(refused.headers.get("content-type"), "application/problem+json")
      assert.strictEqual((yield* ask(path, { origin: url, "sec-fetch-site": "same-site" })).status, 403)
    }
    assert.deepStrictEqual(events, [])
    assert.strictEqual((yield* ask("/runs", {})).status, 200)
    assert.strictEqual((yield* ask("/runs/stream", { origin: url, "sec-fetch-site": "same-origin" })).status, 200)
  })
)

it.effect("backend: where customers have tokens, the form takes one, and a cookie gives it to the page [P1245]", () =>
  Effect.gen(function* () {
    const desk = yield* make(text("A lamp."))
    const token = "the-token/of+ada=herself; %"
    const customers = [{ name: "ada", token: Redacted.make(token) }]
    const { url } = yield* serving(desk.layer, undefined, undefined, customers)
    assert.include((yield* raw(url, "/live")).text, 'name="token"')
    const refused = yield* post(url, "input=A-17", { origin: url })
    assert.deepStrictEqual([refused.status, refused.headers.get("set-cookie")], [401, null])
    const page = yield* post(url, `input=A-17&token=${encodeURIComponent(token)}`, { origin: url })
    assert.notInclude(page.text, token)
    const [cookie = "", ...attributes] = (page.headers.get("set-cookie") ?? "").split("; ")
    assert.sameMembers(attributes, ["HttpOnly", "Path=/runs", "SameSite=Strict"])
    const ask = (headers: Readonly<Record<string, string>>) =>
      raw(url, "/runs", {
        method: "POST",
        body: JSON.stringify({ input: "A-17" }),
        headers: { "content-type": "application/json", origin: url, ...headers }
      })
    assert.strictEqual((yield* ask({})).status, 401)
    assert.strictEqual((yield* ask({ cookie: `${cookie}x` })).status, 401)
    assert.strictEqual((yield* ask({ cookie })).status, 200)
  })
)

it.effect("backend: what the page reads is a recording without a gap [P1245]", () =>
  Effect.gen(function* () {
    const model = yield* make(calls(call("findOrder", { orderId: "A-17" })), text("A lamp."))
    const { url } = yield* serving(model.layer)
    // as the script of the page asks
    const read = yield* raw(url, "/runs/stream", {
      method: "POST",
      body: JSON.stringify({ input: "What is order A-17?" }),
      headers: { "content-type": "application/json", accept: "text/event-stream", origin: url }
    })
    const data = read.text.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []))
    const events = data.map((line): unknown => JSON.parse(line))
    const recording = Recording.fromEvents(events)
    assert.deepStrictEqual(recording.problems, [])
    assert.strictEqual(recording.events.length, events.length)
    const decoded = yield* Effect.forEach(recording.events, (event) =>
      Schema.decodeUnknownEffect(AgentEvent.AgentEvent)(event)
    )
    assert.strictEqual(decoded.filter(AgentEvent.isTerminal).length, 1)
  })
)
