/** `npm run providers:live`, with a loopback server in the place of each provider. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Usage } from "../../../scripts/commandLine.ts"
import { current } from "../../../scripts/modelNames.ts"
import { providerNames, providerOf } from "../src/providers.ts"
import * as Records from "../src/records.ts"
import { scenarios } from "../src/scenarios.ts"
import { parse } from "../src/settings.ts"
import { type brain, commandOf, envOf, filesIn, inEachJson, key, ran, sentKey, serving } from "./_support/server.ts"

/** What this server does not do as Perplexity's chat completions do: files by URL, and usage in each event. */
const unlike = new Set(["perplexity file", "perplexity usage"])

const folder = (): string => mkdtempSync(join(tmpdir(), "live-"))

/** The rows of a table, by scenario. */
const rowsIn = (written: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    scenarios.map(({ name }) => [name, new RegExp(`^${name} {2,}(.*)$`, "m").exec(written)?.[1] ?? "no row"])
  )

describe.each(providerNames)("in the place of %s", (provider) => {
  it.live("the server is asked twenty things, and a second run finds no difference", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* serving()
      const records = folder()
      for (const which of ["first", "second"]) {
        const { code, written } = yield* ran(commandOf(provider, url), records, envOf(provider))
        const cells = Object.entries(rowsIn(written))
        assert.lengthOf(cells, 20)
        const failed = cells.filter(([, cell]) => !/^(?:ok: .+|not offered)$/.test(cell)).map(([name]) => name)
        assert.isTrue(
          failed.every((name) => unlike.has(`${provider} ${name}`)),
          written
        )
        assert.strictEqual(code, failed.length === 0 ? 0 : 1)
        for (const name of ["text", "streamed text", "wrong key", "unknown model", "too long context"]) {
          assert.match(rowsIn(written)[name] ?? "", /^ok: /, name)
        }
        assert.include(written, "differences to the last record: 0")
        assert.strictEqual(written.includes("records without a last one"), which === "first")
      }
      assert.isAbove((yield* requests).length, 30)
      const files = filesIn(records)
      assert.isAbove(Object.keys(files).length, 12)
      for (const [name, text] of Object.entries(files)) {
        assert.isBelow(text.length, 60_000, name)
        assert.notInclude(text, key)
      }
    })
  )

  it.live("three planted differences to the last record are found, whole and streamed", () =>
    Effect.gen(function* () {
      const records = folder()
      const scenario = "--scenario=text,streamed-text"
      const before = yield* serving(inEachJson((json) => ({ ...json, stays: 1, goes: { inner: "x" }, turns: "x" })))
      const first = yield* ran(commandOf(provider, before.url, scenario), records, envOf(provider))
      assert.strictEqual(first.code, 0, first.written)
      const after = yield* serving(inEachJson((json) => ({ ...json, stays: 2, comes: [{ inner: true }], turns: null })))
      const { code, written } = yield* ran(commandOf(provider, after.url, scenario), records, envOf(provider))
      assert.strictEqual(code, 1)
      const found = written.split("\n").flatMap((line) => {
        const [, of, text] = /^ {2}\S+ gemini-3-test, ((?:streamed )?text): (.*)$/.exec(line) ?? []
        return of === undefined || text === undefined ? [] : [[of, text] as const]
      })
      assert.deepStrictEqual(
        found.filter(([of]) => of === "text").map(([, text]) => text.replace("message.", "").replace("response.", "")),
        [
          "answer 1: comes appeared (list)",
          "answer 1: goes disappeared (object)",
          "answer 1: turns changed: string → null"
        ]
      )
      const streamed = found.filter(([of]) => of === "streamed text")
      for (const change of ["comes appeared (list)", "goes disappeared (object)", "turns changed: string → null"]) {
        assert.isTrue(
          streamed.some(([, text]) => text.endsWith(change)),
          change
        )
      }
      assert.notInclude(written, "stays")
      assert.notInclude(written, "inner")
      // The new record is now the last one.
      assert.strictEqual((yield* ran(commandOf(provider, after.url, scenario), records, envOf(provider))).code, 0)
    })
  )

  it.live("no planted secret is in a record, nor in what is printed", () =>
    Effect.gen(function* () {
      const records = folder()
      // The server says the key in its reply, in fields of bodies, and in the texts of its errors.
      const parrot: typeof brain = (request) =>
        Effect.succeed({ content: [Message.text(`Your key is ${sentKey(request.received)}, or ${btoa(key)}.`)] })
      const echo = inEachJson((json) => ({ ...json, echo: { key, text: `by ${key}`, api_key: "word-of-a-stranger" } }))
      const talkative = yield* serving(echo, parrot)
      const angry = yield* LoopbackServer.make((request) =>
        Effect.succeed({
          status: 401,
          body: JSON.stringify({ error: { message: `Incorrect API key provided: ${sentKey(request)}`, type: "auth" } })
        })
      )
      const broken = yield* LoopbackServer.make(
        Fault.inFront(
          () => Fault.cut(30, "reset"),
          (request) => Effect.succeed({ body: `<html>${sentKey(request)}${"x".repeat(99)}</html>` })
        )
      )
      const printed: Array<string> = []
      for (const { url } of [talkative, angry, broken]) {
        const command = commandOf(provider, url, "--scenario=text,streamed-text,tool-call,wrong-key", "--once")
        const signed = command.map((word) => (word.startsWith("--base-url") ? `${word}?sig=Zq81LmXk0pWv` : word))
        const { code, progress, written } = yield* ran(signed, records, envOf(provider))
        printed.push(written, progress)
        assert.include([0, 1], code)
        const files = filesIn(records)
        assert.isAbove(Object.keys(files).length, 2)
        const all = [...Object.values(files), ...printed].join("\n")
        for (const secret of [key, btoa(key), "Zq81LmXk0pWv", "word-of-a-stranger", "51H8zQwErTyUi"]) {
          assert.notInclude(all, secret)
        }
      }
      assert.include(printed.join(), "AuthenticationError")
    })
  )
})

describe("a provider", () => {
  it.live("is skipped with a sentence if its key is not there, and nothing is sent", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* serving()
      const records = folder()
      const { code, written } = yield* ran([], records, {})
      assert.strictEqual(code, 0)
      assert.strictEqual(written.split("\n").length, providerNames.length + 1)
      assert.include(written, "openai is skipped: OPENAI_API_KEY is not set.")
      assert.include(written, "ollama is skipped: it runs at home, so it is asked where OLLAMA_BASE_URL is set")
      const one = yield* ran(commandOf("kimi", url), records, {})
      assert.deepStrictEqual([one.code, one.written], [0, "kimi is skipped: MOONSHOT_API_KEY is not set.\n"])
      assert.deepStrictEqual([yield* requests, filesIn(records)], [[], {}])
    })
  )

  it.live("is asked where the environment says", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* serving()
      const command = ["--scenario=text", "--provider=ollama", "--model=gemini-3-test"]
      const { code } = yield* ran(command, folder(), { OLLAMA_BASE_URL: url, OLLAMA_API_KEY: key })
      assert.deepStrictEqual([code, (yield* requests).length], [0, 1])
    })
  )

  it.live("whose model fails is told below the table, and the exit code is 1", () =>
    Effect.gen(function* () {
      const mute: typeof brain = () => Effect.succeed({ content: [Message.text("I call no tool.")] })
      const { url } = yield* serving(undefined, mute)
      const command = commandOf("anthropic", url, "--scenario=text,tool-call,long-reply,structured-output,usage")
      const { code, written } = yield* ran(command, folder(), envOf("anthropic"))
      assert.strictEqual(code, 1)
      const cells = rowsIn(written)
      assert.deepStrictEqual(
        [cells["text"]?.slice(0, 3), cells["tool call"], cells["long reply"], cells["structured output"]],
        ["ok:", "fails", "fails", "fails"]
      )
      assert.include(written, "failures: 4")
      assert.include(written, "  anthropic gemini-3-test, tool call: no call, finish 'stop'")
      assert.include(written, "long reply: finish 'stop', and not 'length'")
      assert.include(written, "usage: usage of 0 in, 0 out")
    })
  )

  it.live("that knows the key of another has it replaced as well, also in pieces", () =>
    Effect.gen(function* () {
      const records = folder()
      const other = "a-key-of-another-provider-0815"
      const knowing: typeof brain = () => Effect.succeed({ content: [Message.text(`Psst: ${other}.`)] })
      const { requests, url } = yield* serving(undefined, knowing)
      const env = { ...envOf("openai-responses"), ANTHROPIC_API_KEY: other }
      const command = commandOf("openai-responses", url, "--scenario=text,streamed-text")
      const { code, written } = yield* ran(command, records, env)
      assert.strictEqual(code, 0)
      const files = filesIn(records)
      assert.deepStrictEqual(Object.keys(files).toSorted(), ["streamed-text.json", "text.json"])
      for (const text of Object.values(files)) {
        assert.include(text, "Psst: ")
        assert.notMatch(text, /a-key-of|another|provider-0815/)
      }
      assert.notInclude(written, other)
      assert.notInclude(JSON.stringify(yield* requests), other)
    })
  )
})

describe("the last record", () => {
  const command = (url: string, ...more: ReadonlyArray<string>) => commandOf("openai", url, "--scenario=text", ...more)
  const down = () => Effect.succeed({ status: 500, body: '{"error":{"message":"down"}}' })
  const page = () => Effect.succeed({ headers: { "content-type": "text/html" }, body: "<html></html>" })
  const cut = Fault.cut(30, "reset")
  const broken = Fault.inFront(() => cut, page)

  it.live.each([
    ["a status", down],
    ["a page", page],
    ["a broken connection", broken]
  ] as const)("is not replaced by a run that failed by %s", ([, handler]) =>
    Effect.gen(function* () {
      const records = folder()
      const good = yield* serving()
      yield* ran(command(good.url), records, envOf("openai"))
      const { url } = yield* LoopbackServer.make(handler)
      const failed = yield* ran(command(url, "--once"), records, envOf("openai"))
      assert.strictEqual(failed.code, 1)
      assert.notInclude(failed.written, "records without a last one")
      assert.deepStrictEqual(Object.keys(filesIn(records)).toSorted(), ["text.failed.json", "text.json"])
      const other = yield* serving(inEachJson((json) => ({ ...json, comes: 1 })))
      const { written } = yield* ran(command(other.url), records, envOf("openai"))
      assert.include(written, "differences to the last record: 1\n")
      assert.include(written, "comes appeared (number)")
      assert.deepStrictEqual(Object.keys(filesIn(records)), ["text.json"])
    })
  )

  it.live("is compared with the answer that counts, though a connection broke before it", () =>
    Effect.gen(function* () {
      const records = folder()
      const flaky = yield* serving((good, received) => (received.number === 1 ? cut(good, received) : good))
      const first = yield* ran(command(flaky.url), records, envOf("openai"))
      assert.deepStrictEqual([first.code, (yield* flaky.requests).length], [0, 2], first.written)
      const other = yield* serving(inEachJson((json) => ({ ...json, comes: 1 })))
      const { written } = yield* ran(command(other.url), records, envOf("openai"))
      assert.include(written, "answer 1: comes appeared (number)")
    })
  )

  it.live("has the headers of its answers, whose names are compared", () =>
    Effect.gen(function* () {
      const records = folder()
      const named = yield* serving((good) =>
        Effect.map(good, (answer) => ({ ...answer, headers: { ...answer.headers, "x-request-id": "r-1" } }))
      )
      yield* ran(command(named.url), records, envOf("openai"))
      const { code, written } = yield* ran(command((yield* serving()).url), records, envOf("openai"))
      assert.strictEqual(code, 1)
      assert.include(written, "answer 1: header x-request-id disappeared (string)")
    })
  )
})

describe("a record", () => {
  it("with a key of the environment after all is thrown away", () => {
    const file = join(folder(), "text.json")
    const texts = ["my key", "bXkga2V5", "my%20key"]
    for (const text of texts) {
      writeFileSync(`${file}.new`, JSON.stringify({ exchanges: [{ end: "complete", said: `It is ${text}.` }] }))
      assert.deepStrictEqual(Records.settle(file, `${file}.new`, ["my key"]), { state: "leaky", differences: [] })
      assert.deepStrictEqual([existsSync(file), existsSync(`${file}.new`)], [false, false])
    }
  })

  it("with a key of the environment in pieces is thrown away", () => {
    const file = join(folder(), "text.json")
    const parts = ["my ", "k", "ey"].map((text) => ({ text }))
    const headers = { "content-type": "text/event-stream" }
    const chunks = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`)
    for (const response of [
      { status: 200, headers: {}, json: { parts } },
      { status: 200, headers, chunks }
    ]) {
      writeFileSync(`${file}.new`, JSON.stringify({ exchanges: [{ response, end: "complete" }] }))
      assert.deepStrictEqual(Records.settle(file, `${file}.new`, ["my key"]), { state: "leaky", differences: [] })
    }
  })

  it("has no long text", () => {
    const file = join(folder(), "text.json")
    writeFileSync(`${file}.new`, JSON.stringify({ exchanges: [{ end: "complete", said: "a".repeat(9000) }] }))
    Records.settle(file, `${file}.new`, [])
    assert.match(readFileSync(file, "utf8"), /"said": "a{80}… \(9000 characters\)"/)
  })
})

describe("the models that are asked", () => {
  it("have names of `scripts/modelNames.ts`", () => {
    for (const name of providerNames) assert.property(current, providerOf(name).model.replace(/^\w+\//, ""))
  })
})

describe("a command line", () => {
  const cases: ReadonlyArray<readonly [command: ReadonlyArray<string>, says: RegExp]> = [
    [["--provider=openay"], /--provider: there is no 'openay', only anthropic, /],
    [["--model=x"], /--model needs one --provider/],
    [["--provider=openai,kimi", "--base-url=http://x"], /--base-url needs one --provider/],
    [["--provider=openai", "--base-url=file:///x"], /--base-url must be an http/],
    [["--provider=openai", "--model=x,"], /--model needs the name of a model/],
    [["--scenario=song"], /--scenario: there is no 'song'/],
    [["--too-long=many"], /--too-long must be a whole number of at least 1, got 'many'/],
    [["--loud"], /--loud/],
    [["--help"], /20 scenarios[^]*--too-long=N/]
  ]
  it.each(cases)("%s is refused, or helped", (command, says) => {
    assert.throws(() => parse(command, "records"), Usage, says)
  })
})
