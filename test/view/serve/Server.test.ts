/** The server of `kintsugi serve` on the loopback interface: who may use it, and what its page asks for. */
import { Agent, Tool } from "@kintsugi/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { maxBody } from "../../../packages/view/src/serve/http.ts"
import type { State } from "../../../packages/view/src/serve/browser/Wire.ts"
import { hostile } from "../_support/hostile.ts"
import { desk } from "./_support/desk.ts"
import { choice, fetch, servingOf, until } from "./_support/serving.ts"

/** The status of a request with headers and paths that `fetch` would not send. */
const statusOf = (url: string, headers: Readonly<Record<string, string>>, method = "GET") =>
  Effect.callback<number>((resume) => {
    const { hostname, origin, port } = new URL(url)
    const path = url.slice(origin.length)
    const asked = request({ hostname, port, path, method, headers: { ...headers } }, (response) => {
      response.resume()
      response.once("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    asked.once("error", (error) => resume(Effect.die(error)))
    asked.end()
  })

describe("who may use it", () => {
  it.live("answers no request without the token of its address [P1283]", () =>
    Effect.gen(function* () {
      const { at, served } = yield* servingOf({ found: { agent: desk } })
      for (const path of ["/", "/state", "/changes", "/events/a", "/runs/a"]) {
        assert.strictEqual(yield* statusOf(`${at}${path}`, {}), 401, path)
        assert.strictEqual(yield* statusOf(`${at}${path}?token=`, {}), 401, path)
        assert.strictEqual(yield* statusOf(`${at}${path}?token=${served.token.slice(1)}`, {}), 401, path)
        assert.strictEqual(yield* statusOf(`${at}${path}`, { authorization: `Bearer ${served.token}x` }), 401, path)
      }
      for (const path of ["/runs", "/clear", "/reload", "/replay", "/runs/a/stop"])
        assert.strictEqual(yield* statusOf(`${at}${path}`, {}, "POST"), 401, path)
      assert.isAtLeast(served.token.length, 32)
      assert.strictEqual(yield* statusOf(served.url, {}), 200)
    }).pipe(Effect.scoped)
  )

  it.live("answers no page of another site, though it knows the token [P1283]", () =>
    Effect.gen(function* () {
      const { at, served } = yield* servingOf({ found: { agent: desk } })
      const authorization = `Bearer ${served.token}`
      for (const origin of [
        "https://example.com",
        "null",
        `http://localhost:${served.port + 1}`,
        `https://127.0.0.1:${served.port}`
      ]) {
        assert.strictEqual(yield* statusOf(`${at}/state`, { authorization, origin }), 403, origin)
        assert.strictEqual(yield* statusOf(`${at}/clear`, { authorization, origin }, "POST"), 403, origin)
      }
      for (const site of ["cross-site", "same-site"])
        assert.strictEqual(yield* statusOf(`${at}/state`, { authorization, "sec-fetch-site": site }), 403, site)
      assert.strictEqual(yield* statusOf(`${at}/state`, { authorization, origin: at }), 200)
    }).pipe(Effect.scoped)
  )

  it.live("answers to no foreign name, which may lead here by DNS [P1283]", () =>
    Effect.gen(function* () {
      const { at, served } = yield* servingOf({ found: { agent: desk } })
      const authorization = `Bearer ${served.token}`
      for (const host of [
        "evil.example",
        `evil.example:${served.port}`,
        "127.0.0.1.evil.example",
        "evil.example@127.0.0.1",
        "[::2]"
      ])
        assert.strictEqual(yield* statusOf(`${at}/state`, { authorization, host }), 421, host)
      assert.strictEqual(yield* statusOf(`${at}/state`, { authorization, host: `localhost:${served.port}` }), 200)
    }).pipe(Effect.scoped)
  )

  it.live("reads no file but those of runs [P1283]", () =>
    Effect.gen(function* () {
      const { at, served } = yield* servingOf({ found: { agent: desk } })
      const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" }
      const ids = ["..", ".", "..%2f..%2fetc%2fpasswd", "%2e%2e%2f.gitignore", "a%00b", "a.json", "%", "x".repeat(4000)]
      for (const id of ids) {
        for (const [path, method] of [
          [`/runs/${id}`, "GET"],
          [`/events/${id}`, "GET"],
          [`/runs/${id}/repeat`, "POST"]
        ] as const) {
          const status = yield* statusOf(`${at}${path}`, headers, method)
          assert.strictEqual(status, 404, path)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("leaves out the record of a run that was broken by hand, and takes no id from a record [P1283]", () =>
    Effect.gen(function* () {
      const { asked, folder, playground, posted } = yield* servingOf({ found: { agent: desk } })
      for (const text of ["null", "3", "[]", "{"]) {
        writeFileSync(join(folder, "runs", "broken.json"), text)
        assert.deepStrictEqual(playground.state().runs, [])
        assert.strictEqual((yield* posted("/runs/broken/repeat")).status, 404, text)
        assert.strictEqual((yield* asked("/runs/broken")).status, 404, text)
      }
      writeFileSync(
        join(folder, "runs", "moved.json"),
        JSON.stringify({ ...choice(), id: "../../moved", agent: "desk" })
      )
      assert.deepStrictEqual(
        playground.state().runs.map(({ id }) => id),
        ["moved"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("reads no body beyond its limit, and none that does not fit [P1283]", () =>
    Effect.gen(function* () {
      const { asked, posted } = yield* servingOf({ found: { agent: desk } })
      const long = yield* posted("/runs", choice({ input: "x".repeat(maxBody) }))
      assert.strictEqual(long.status, 413)
      const deep = JSON.stringify(choice({ input: "deep" })).replace('"deep"', `${"[".repeat(1e5)}${"]".repeat(1e5)}`)
      assert.strictEqual((yield* asked("/runs", { method: "POST", body: deep })).status, 400)
      const bodies = ["{", "[]", "1", '{"input":"a"}', JSON.stringify({ ...choice(), model: "other" })]
      for (const body of bodies) assert.strictEqual((yield* asked("/runs", { method: "POST", body })).status, 400, body)
      const form = yield* asked("/runs", {
        method: "POST",
        body: JSON.stringify(choice()),
        headers: { "content-type": "text/plain" }
      })
      assert.strictEqual(form.status, 400)
      assert.strictEqual((yield* asked("/state", { method: "DELETE" })).status, 405)
    }).pipe(Effect.scoped)
  )

  it.live("serves pages with a policy that admits their own script alone [P1283]", () =>
    Effect.gen(function* () {
      const { asked } = yield* servingOf({ found: { agent: desk } })
      const page = yield* asked("/")
      const policy = page.headers.get("content-security-policy") ?? ""
      assert.include(policy, "default-src 'none'")
      assert.match(policy, /script-src 'sha256-[^']+';/)
      assert.notInclude(policy, "unsafe-inline")
      assert.include(policy, "frame-ancestors 'none'")
      assert.strictEqual(page.headers.get("cache-control"), "no-store")
    }).pipe(Effect.scoped)
  )

  it.live("shows a hostile result of a tool as text [P1283]", () =>
    Effect.gen(function* () {
      for (const text of hostile) {
        const tool = Tool.make("say", {
          description: text,
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: () => Effect.succeed(text)
        })
        const { asked, playground } = yield* servingOf({
          found: { agent: Agent.make("desk", { prompt: text, tools: [tool] }) }
        })
        const id = yield* playground.start(choice({ input: text }))
        yield* until(playground, id, "completed")
        const report = yield* Effect.promise(async () => textOf(await Effect.runPromise(asked(`/runs/${id}`))))
        assert.notInclude(report, "<img")
        assert.strictEqual(report.split("<script").length, 3)
        const state = yield* asked("/state")
        assert.strictEqual(state.headers.get("content-type"), "application/json")
        assert.strictEqual(state.headers.get("x-content-type-options"), "nosniff")
      }
    }).pipe(Effect.scoped)
  )
})

const textOf = (response: Response): Promise<string> => response.text()

describe("what the page asks for", () => {
  it.live("starts a run, streams its events from any one on, and has its report [P1284]", () =>
    Effect.gen(function* () {
      const { asked, playground, posted } = yield* servingOf({ found: { agent: desk } })
      const begun = yield* posted("/runs", choice({ faults: ["server-error"] }))
      const { id } = yield* Effect.promise(() => begun.json() as Promise<{ id: string }>)
      const all = yield* Effect.promise(async () => (await Effect.runPromise(asked(`/events/${id}`))).text())
      const blocks = all.trimEnd().split("\n\n")
      assert.match(blocks[0] ?? "", /^id: 1\ndata: \{.*"type":"run-start"/)
      assert.match(blocks.at(-1) ?? "", /"type":"run-completed"/)
      const rest = yield* Effect.promise(async () => (await Effect.runPromise(asked(`/events/${id}?after=3`))).text())
      assert.strictEqual(rest.trimEnd(), blocks.slice(3).join("\n\n"))
      yield* until(playground, id, "completed")
      const state = yield* Effect.promise(
        async () => (await (await Effect.runPromise(asked("/state"))).json()) as State
      )
      assert.deepStrictEqual(
        state.runs.map((run) => [run.id, run.status, run.healed]),
        [[id, "completed", 1]]
      )
      const report = yield* asked(`/runs/${id}`)
      assert.strictEqual(report.status, 200)
      assert.include(report.headers.get("content-security-policy") ?? "", "frame-ancestors 'self'")
      const compared = yield* asked(`/compare/${id}/${id}`)
      assert.strictEqual(compared.status, 200)
      assert.include(yield* Effect.promise(() => compared.text()), "Both runs took the same steps")
      assert.strictEqual((yield* asked(`/compare/${id}/none`)).status, 404)
      assert.strictEqual((yield* asked(`/compare/${id}/..%2F..%2Fsecret`)).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("frees its port when its scope closes, also while a reader waits for events [P1284]", () =>
    Effect.gen(function* () {
      const at = yield* Effect.scoped(
        Effect.gen(function* () {
          const { asked, served } = yield* servingOf({ found: { agent: desk } })
          const changes = yield* asked("/changes")
          assert.strictEqual(changes.status, 200)
          return served.url
        })
      )
      const gone = yield* Effect.exit(Effect.tryPromise(() => fetch(at)))
      assert.strictEqual(gone._tag, "Failure")
    })
  )
})
