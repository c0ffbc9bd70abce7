/** The answers of the server to each request: status, words and headers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { desk } from "./_support/desk.ts"
import { choice, servingOf, until } from "./_support/serving.ts"

const nothing = "There is nothing under this address.\n"
const unfit = "The body of the request does not fit.\n"

describe("an answer of the server", () => {
  it.live("is text with its reason where there is nothing to show or to do [P1283]", () =>
    Effect.gen(function* () {
      const { asked } = yield* servingOf({ found: { agent: desk } })
      for (const [method, path, status, says] of [
        ["GET", "/x", 404, nothing],
        ["GET", "//x", 404, nothing],
        ["GET", "/runs", 404, nothing],
        ["GET", "/runs/a/b", 404, nothing],
        ["GET", "/runs/a/b/c", 404, nothing],
        ["GET", "/state/a", 404, nothing],
        ["GET", "/changes/a", 404, nothing],
        ["GET", "/events/a/b", 404, nothing],
        ["GET", "/events", 404, nothing],
        ["GET", "/compare/a", 404, nothing],
        ["GET", "/compare/a/b", 404, nothing],
        ["PUT", "/runs", 405, "Use GET or POST.\n"],
        ["POST", "/x", 404, nothing],
        ["POST", "/reload/a", 404, nothing],
        ["POST", "/clear/a", 404, nothing],
        ["POST", "/replay/a", 404, nothing],
        ["POST", "/runs/a", 404, nothing],
        ["POST", "/runs/a/other", 404, nothing],
        ["POST", "/runs/a/stop", 409, "the run is not at work\n"]
      ] as const) {
        const answer = yield* asked(path, { method })
        assert.deepStrictEqual(
          [answer.status, yield* Effect.promise(() => answer.text())],
          [status, says],
          `${method} ${path}`
        )
        assert.strictEqual(answer.headers.get("content-type"), "text/plain; charset=utf-8")
        assert.deepStrictEqual(
          ["cache-control", "x-content-type-options", "referrer-policy"].map((name) => answer.headers.get(name)),
          ["no-store", "nosniff", "same-origin"]
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("refuses each body that does not fit, with its reason [P1283]", () =>
    Effect.gen(function* () {
      const { asked, posted } = yield* servingOf({ found: { agent: desk } })
      const { faults: _f, ...noFaults } = choice()
      const { input: _i, ...noInput } = choice()
      for (const [path, body] of [
        ["/runs", noFaults],
        ["/runs", noInput],
        ["/runs", { ...choice(), model: "x" }],
        ["/runs", { ...choice(), tools: "x" }],
        ["/runs", { ...choice(), faults: [1] }],
        ["/runs", { ...choice(), faults: "a" }],
        ["/runs", { ...choice(), seed: 1.5 }],
        ["/runs", { ...choice(), seed: "1" }],
        ["/runs", { ...choice(), prompt: 1 }],
        ["/runs/a/from", {}],
        ["/runs/a/from", { turn: "1" }],
        ["/runs/a/from", { turn: 1, prompt: 1 }],
        ["/runs/a/say", {}],
        ["/runs/a/say", { text: 1 }],
        ["/runs/a/decide", { digest: 1, answer: { type: "approve" } }],
        ["/runs/a/decide", { digest: "d" }],
        ["/runs/a/decide", { digest: "d", answer: {} }],
        ["/runs/a/decide", { digest: "d", answer: { type: "other" } }],
        ["/runs/a/decide", { digest: "d", answer: { type: "refuse" } }],
        ["/runs/a/decide", { digest: "d", answer: { type: "refuse", reason: 1 } }]
      ] as const) {
        const answer = yield* posted(path, body)
        assert.deepStrictEqual(
          [answer.status, yield* Effect.promise(() => answer.text())],
          [400, unfit],
          `${path} ${JSON.stringify(body)}`
        )
      }
      for (const type of ["text/plain", "text/application/json"]) {
        const typed = yield* asked("/runs", {
          method: "POST",
          body: JSON.stringify(choice()),
          headers: { "content-type": type }
        })
        assert.strictEqual(yield* Effect.promise(() => typed.text()), unfit)
      }
      const broken = yield* asked("/runs", { method: "POST", body: "{" })
      assert.strictEqual(yield* Effect.promise(() => broken.text()), "The body of the request is no JSON.\n")
      const nested = (levels: number) =>
        asked("/x", { method: "POST", body: `${"[".repeat(levels)}${"]".repeat(levels)}` })
      assert.strictEqual(
        yield* Effect.promise(() => Effect.runPromise(nested(501)).then((answer) => answer.text())),
        "The body of the request is nested too deeply.\n"
      )
      assert.strictEqual((yield* nested(500)).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("takes each body that fits [P1284]", () =>
    Effect.gen(function* () {
      const { asked, playground, posted } = yield* servingOf({ found: { agent: desk } })
      const begun = (path: string, body: unknown) =>
        Effect.gen(function* () {
          const answer = yield* posted(path, body)
          assert.strictEqual(answer.status, 200, path)
          const { id } = yield* Effect.promise((): Promise<{ id: string }> => answer.json())
          yield* until(playground, id, "completed")
          return id
        })
      const id = yield* begun("/runs", choice({ tools: "made up" }))
      yield* begun(`/runs/${id}/repeat`, {})
      yield* begun(`/runs/${id}/from`, { turn: 1 })
      yield* begun(`/runs/${id}/from`, { turn: 1, prompt: "Be brief." })
      for (const [path, body, status, says] of [
        [`/runs/${id}/say`, { text: "more" }, 409, "the run is not at work\n"],
        ["/runs/a/decide", { digest: "d", answer: { type: "approve" } }, 404, "there is no such run\n"],
        ["/runs/a/decide", { digest: "d", answer: { type: "refuse", reason: "no" } }, 404, "there is no such run\n"]
      ] as const) {
        const answer = yield* posted(path, body)
        assert.deepStrictEqual([answer.status, yield* Effect.promise(() => answer.text())], [status, says], path)
      }
      // what cannot be read of an address counts as empty
      assert.strictEqual((yield* asked("/%")).status, 200)
      for (const path of [`/x/${id}`, `/events/${id}/x`]) assert.strictEqual((yield* asked(path)).status, 404, path)
    }).pipe(Effect.scoped)
  )

  it.live("is the page, a report, a comparison or events, each with its policy [P1283]", () =>
    Effect.gen(function* () {
      const { asked, at, playground, posted, served } = yield* servingOf({ found: { agent: desk } })
      assert.strictEqual(served.url, `${at}/?token=${served.token}`)
      const page = yield* asked("/")
      assert.match(
        page.headers.get("content-security-policy") ?? "",
        /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/
      )
      assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
      const text = yield* Effect.promise(() => page.text())
      assert.match(text, /^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">/)
      assert.include(text, '<main id="serve"><h1>kintsugi serve</h1><p>This page needs scripts.</p></main>')
      const begun = yield* posted("/runs", choice())
      const { id } = yield* Effect.promise((): Promise<{ id: string }> => begun.json())
      yield* until(playground, id, "completed")
      const report = yield* asked(`/runs/${id}`)
      assert.strictEqual(report.headers.get("content-security-policy"), "frame-ancestors 'self'")
      assert.include(yield* Effect.promise(() => report.text()), "<!doctype html>")
      const compared = yield* asked(`/compare/${id}/${id}`)
      assert.strictEqual(compared.headers.get("content-security-policy"), "frame-ancestors 'none'")
      assert.include(yield* Effect.promise(() => compared.text()), `<title>${id} and ${id}</title>`)
      assert.strictEqual((yield* asked(`/compare/${id}/none`)).status, 404)
      const events = yield* asked(`/events/${id}?after=2`)
      assert.strictEqual(events.headers.get("content-type"), "text/event-stream")
      const blocks = (yield* Effect.promise(() => events.text())).split("\n\n")
      const lines = playground.lines(id) ?? []
      assert.deepStrictEqual(blocks, [...lines.slice(2).map((line, index) => `id: ${index + 3}\ndata: ${line}`), ""])
      const last = yield* asked(`/events/${id}`, { headers: { "last-event-id": String(lines.length - 1) } })
      assert.strictEqual(yield* Effect.promise(() => last.text()), `id: ${lines.length}\ndata: ${lines.at(-1)}\n\n`)
      for (const after of ["-1", "1.5", "x"]) {
        const all = yield* asked(`/events/${id}?after=${after}`)
        assert.match(yield* Effect.promise(() => all.text()), /^id: 1\n/)
      }
    }).pipe(Effect.scoped)
  )
})
