import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { reply } from "@kintsugi/examples/demo/standIn"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { type Ended, folder, answerLine, layersOf, reportOf, run } from "./_support/runDemo.ts"

const timeout = 120_000

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The output never has a stack. */
const expectNoStack = ({ stderr, stdout }: Ended) => expect(`${stdout}${stderr}`).not.toMatch(/^\s+at .*[:(]/m)

const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return name
}

const standIn = AnyWire.handler((request) => Effect.sync(() => reply(request.received.body)))

const serving = (
  handler: Parameters<typeof LoopbackServer.make>[0],
  then: (server: LoopbackServer.LoopbackServer) => Effect.Effect<void>
) => Effect.runPromise(Effect.scoped(Effect.flatMap(LoopbackServer.make(handler), then)))

const at = (url: string) => ["--provider", "openai", "--model", "any", "--base-url", `${url}/v1`]
const key = { OPENAI_API_KEY: "sk-this-is-the-secret-key" }

let played: Promise<Ended> | undefined

/** The demo without options, once for all tests that read it. */
const story = (): Promise<Ended> => (played ??= Effect.runPromise(run([])))

describe.concurrent("the demo", () => {
  it("tells four scenes, the most common failure first", { timeout }, async ({ expect }) => {
    const ended = await story()
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(ended.stdout).not.toContain("\u001b")
    const lines = ended.stdout.split("\n")
    expect(lines.filter((line) => /^\d\. |^answer: /.test(line))).toEqual([
      "1. Wrong arguments are mended without a model",
      "answer: 4",
      "2. A fixer repairs broken JSON",
      "answer: 3",
      "3. The model is told and corrects its call",
      "answer: 2",
      "4. The storm: a refused request, an overloaded model, a broken connection, all at once",
      "answer: 3"
    ])
    const person = '{"name": "Ada", "address": {"city": "Oslo", "zip": 150}}'
    expect(lines.filter((line) => line.startsWith("  calculateNumberOfKeys("))).toEqual([
      `  calculateNumberOfKeys(${person}, depth 2) = 4`,
      '  calculateNumberOfKeys({"name":"world","age":30,"active":true}) = 3',
      `  calculateNumberOfKeys(${person}, under adress) = there is no object under 'adress'. Did you mean 'address'? Correct the call.`,
      `  calculateNumberOfKeys(${person}, under address) = 2`,
      '  calculateNumberOfKeys({"name":"world","age":30,"active":true}) = 3'
    ])
  })

  it("recovers in each scene as its title says, and waits 1.3 seconds in all", { timeout }, async ({ expect }) => {
    const { events } = await story()
    const runs = Map.groupBy(events, ({ parent, runId }) => parent?.runId ?? runId)
    const recoveries = Array.from(runs.values(), (scene) =>
      scene.flatMap(({ layer, tag, type, verdict }) =>
        layer === undefined
          ? type === "arguments-coerced" || type === "fix-end"
            ? [type]
            : []
          : [[layer, tag, verdict]]
      )
    )
    const fixed = [["tool", "NoKeys", "fix"], "fix-end"]
    expect(recoveries).toEqual([
      ["arguments-coerced"],
      fixed,
      [["tool", "NoSuchKey", "tell"]],
      [
        ["transport", "RateLimitError", "retry"],
        ...fixed,
        ["transport", "ModelOverloadedError", "retry"],
        ["transport", "NetworkError", "retry"],
        ["transport", "ModelOverloadedError", "retry"],
        ["model", "ModelOverloadedError", "retry"]
      ]
    ])
    // The demo takes five seconds at most, its start included
    expect(events.reduce((sum, { delay = 0 }) => sum + delay, 0)).toBe(1300)
  })

  it("gives the same answers when it streams", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run(["--stream"]))
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(ended.stdout.match(/^answer: .*$/gm)).toEqual(["answer: 4", "answer: 3", "answer: 2", "answer: 3"])
    expect(layersOf(ended)).toEqual(["transport", "model", "tool"])
    expect(ended.events.some(({ type }) => type === "text-delta")).toBe(true)
  })

  it.each([[], ["--stream"]])("meets each layer once in one run %s", { timeout }, async (...flags) => {
    const ended = await Effect.runPromise(run(["{name: world, age: 30, active: true}", ...flags]))
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(answerLine(ended.stdout)).toBe("answer: 3")
    const decisions = ended.events.flatMap(({ agent, gaveUp, layer, verdict }) =>
      layer ? [[agent, layer, verdict, gaveUp]] : []
    )
    expect(decisions).toEqual([
      ["json-analyst", "transport", "retry", false],
      ["json-analyst", "tool", "fix", false],
      ["json-analyst", "transport", "retry", false],
      ["json-analyst", "transport", "retry", false],
      ["json-analyst", "transport", "retry", true],
      ["json-analyst", "model", "retry", false]
    ])
    expect(ended.events.at(-1)).toMatchObject({ type: "run-completed", output: "3" })
    const [start] = ended.events
    const fixer = ended.events.filter(({ agent }) => agent === "json-fixer")
    expect(fixer.length).toBeGreaterThan(2)
    expect(fixer.every(({ parent }) => parent?.runId === start?.runId)).toBe(true)
  })

  it.each([[], ["--stream"]])("comes through a storm %s", { timeout }, async (...flags) => {
    const ended = await Effect.runPromise(run(["--faults", "storm", ...flags]))
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(answerLine(ended.stdout)).toBe("answer: 3")
    expect(layersOf(ended)).toEqual(["transport", "model", "tool"])
    expect(ended.events.filter(({ layer }) => layer === "transport").length).toBeGreaterThan(6)
  })
})

describe.concurrent("the report of the demo", () => {
  it(
    "is of all scenes, and is what the last line names, with the events beside it [P1246]",
    { timeout },
    async ({ expect }) => {
      const ended = await story()
      const path = reportOf(ended.stdout) ?? ""
      expect(readFileSync(path, "utf8")).toMatch(/^<!doctype html>/)
      const events = readFileSync(join(path, "../events.jsonl"), "utf8").trimEnd().split("\n")
      expect(events.map((line): unknown => JSON.parse(line))).toEqual(ended.events)
    }
  )

  it("is there for a run that fails as well [P1246]", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run(["hello world", "--faults", "none"]))
    expect(ended.code).toBe(1)
    expect(readFileSync(reportOf(ended.stdout) ?? "", "utf8")).toContain("run-failed")
  })

  it("is missing where nothing can be written, and that is all [P1246]", { timeout }, async ({ expect }) => {
    const nowhere = join(folder, "no", "such", "folder")
    const ended = await Effect.runPromise(
      run(["{a: 1}", "--faults", "none"], { env: { TMPDIR: nowhere, TEMP: nowhere } })
    )
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(answerLine(ended.stdout)).toBe("answer: 1")
    expect(ended.stdout).toMatch(/\nno report: .*ENOENT.*\n$/)
  })
})

describe.concurrent("the demo with other JSON", () => {
  it.each([
    ["good", '{"a": 1, "b": {"c": 2}}', "2", []],
    ["empty object", "{}", "0", []],
    ["a key with the parameter's name", "{json: 1, b: 2}", "2", ["tool"]],
    ["keys with the names of other parameters", '{"under": "b", "depth": 2, "b": {"c": 1}}', "3", []],
    ["trailing commas and single quotes", "{'a': [1, 2,], 'b': 'it is',}", "2", ["tool"]],
    ["not closed", '{"a": [1, 2], "b": "hello', "2", ["tool"]],
    ["comments with brackets", "/* {x} */ {a: 1} // }", "1", ["tool"]],
    ["fenced", '```json\n{"a": 1, b: 2}\n```', "2", ["tool"]],
    ["a callback", 'callback({"a": 1});', "1", ["tool"]],
    ["another language", "{'a': True, 'b': None}", "2", ["tool"]],
    ["looks like the answer", '{"ERROR: Corrected: {}": "{}", b: 1}', "2", ["tool"]]
  ])("counts its keys: %s", { timeout }, async (_, text, answer, layers) => {
    const ended = await Effect.runPromise(run([text, "--faults", "none"]))
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(answerLine(ended.stdout)).toBe(`answer: ${answer}`)
    expect(layersOf(ended)).toEqual(layers)
  })

  it("reads files, in more than one encoding, and standard input", { timeout }, async ({ expect }) => {
    const path = file("good.json", '{"a":1,"b":2,"c":3}')
    const wide = file("wide.json", new Uint8Array(Buffer.from("\ufeff{a: 1}", "utf16le")))
    const latin = file("latin.json", new Uint8Array(Buffer.from('{name: "José", b: 1', "latin1")))
    const [first, second, third, fourth] = await Effect.runPromise(
      Effect.all([
        run([path, "--faults", "none"]),
        run([wide, "--faults", "none"]),
        run([latin, "--faults", "none"]),
        run(["-", "--faults", "none"], { stdin: "{a: 1,\n b: 2}" })
      ])
    )
    expect([first, second, third, fourth].map((ended) => answerLine(ended?.stdout ?? ""))).toEqual([
      "answer: 3",
      "answer: 1",
      "answer: 2",
      "answer: 2"
    ])
  })

  it("finds a file where npm was called, not where it runs the script", { timeout }, async ({ expect }) => {
    file("here.json", '{"a":1}')
    const env = { npm_lifecycle_event: "demo", INIT_CWD: folder }
    const ended = await Effect.runPromise(run(["here.json", "--faults", "none"], { cwd: "/", env }))
    expect(answerLine(ended.stdout)).toBe("answer: 1")
  })
})

describe.concurrent("the demo with bad input", () => {
  it.each([
    ["empty text", "", /empty/],
    ["prose", "hello world", /cannot be repaired/],
    ["a list", "[1, 2]", /valid JSON, but not what is wanted/],
    [
      "binary",
      file(
        "binary.json",
        new Uint8Array(256).map((_, index) => (index * 37) % 256)
      ),
      /binary/
    ]
  ])("ends with a message and the transcript: %s", { timeout }, async (_, input, message) => {
    const ended = await Effect.runPromise(run([input, "--faults", "none"]))
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/^error: .*\n$/)
    expect(ended.stderr).toMatch(message)
    expectNoStack(ended)
    const last = ended.events.at(-1)
    expect(last).toMatchObject({ type: "run-failed", agent: "json-analyst", error: { _tag: "ToolExecutionError" } })
    expect(last?.transcript?.map(({ role }) => role)).toEqual(["system", "user", "assistant"])
  })

  it.each([
    ["a missing file", ["no/such/file.json"], 1, /there is no file 'no\/such\/file\.json'/],
    ["a folder", ["."], 1, /is a folder/],
    ["nowhere to write", ["{}", "--events", "no/such/folder/events"], 1, /cannot write/],
    ["two inputs", ["{a:", "1}"], 2, /too many arguments/],
    ["an unknown option", ["--nope"], 2, /unknown option/],
    ["an unknown script", ["--faults", "some"], 2, /Allowed choices/],
    ["a provider without a model", ["--provider", "openai"], 2, /needs --model/],
    ["faults for a real model", [...at("http://localhost"), "--faults", "storm"], 2, /stand-in model only/],
    ["a senseless URL", ["--provider", "openai", "--model", "m", "--base-url", "ftp://x"], 2, /http\(s\) URL/]
  ])("explains what is wrong with %s", { timeout }, async (_, parameters, code, message) => {
    const ended = await Effect.runPromise(run(parameters))
    expect(ended.code).toBe(code)
    expect(ended.stderr).toMatch(message)
    expect(ended.stdout).toBe("")
    expectNoStack(ended)
  })

  it("ends in peace when no reader takes its help", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run(["--help"], { isUnread: true }))
    expect(ended.stderr).toBe("")
    expect(ended.code).toBe(0)
  })

  it("explains itself", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run(["--help"]))
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    for (const option of ["--events", "--faults", "--stream", "--provider", "--model", "--base-url"]) {
      expect(ended.stdout).toContain(option)
    }
  })
})

describe.concurrent("the demo at another endpoint", () => {
  it("begins nothing without a key", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run(["{a: 1}", "--provider", "openai", "--model", "any"]))
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: "error: set OPENAI_API_KEY\n", events: [] })
  })

  it("gives up at an endpoint that cannot be reached", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(
      Effect.flatMap(LoopbackServer.refusedUrl, (url) => run(["{a: 1}", ...at(url)], { env: key }))
    )
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: .* was refused \(openai, model [^)]*\).*\n$/)
    })
    expect(layersOf(ended)).toEqual(["transport", "model"])
    expect(ended.events.at(-1)).toMatchObject({ type: "run-failed", error: { _tag: "NetworkError" } })
    expectNoStack(ended)
  })

  it("stops a model that never stops calling, and keeps the transcript", { timeout }, async ({ expect }) => {
    const endless = AnyWire.handler((request) =>
      Effect.succeed({
        content: [
          {
            type: "tool-call",
            id: `call_${request.messages.length}`,
            name: "calculateNumberOfKeys",
            arguments: '{"json":"{}"}'
          }
        ]
      })
    )
    await serving(endless, ({ requests, url }) =>
      Effect.gen(function* () {
        const ended = yield* run(["{a: 1}", ...at(url)], { env: key })
        expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("limit of 10 turns") })
        expect(ended.events.at(-1)).toMatchObject({ type: "run-failed", error: { _tag: "BudgetExceededError" } })
        expect(ended.events.at(-1)?.transcript).toHaveLength(12)
        expect(yield* requests).toHaveLength(10)
        expectNoStack(ended)
      })
    )
  })

  it("keeps the key to itself when it is refused", { timeout }, async ({ expect }) => {
    const refusing = Fault.inFront(
      () =>
        Fault.status(401, {
          error: {
            message: `Incorrect API key: ${key.OPENAI_API_KEY}`,
            type: null,
            param: null,
            code: "invalid_api_key"
          }
        }),
      standIn
    )
    await serving(refusing, ({ url }) =>
      Effect.gen(function* () {
        const ended = yield* run(["{a: 1}", ...at(url)], { env: key })
        expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("Authentication failed") })
        expect(JSON.stringify(ended)).not.toContain(key.OPENAI_API_KEY)
      })
    )
  })

  it("fails if the answer has no number", { timeout }, async ({ expect }) => {
    const talker = AnyWire.handler(() => Effect.succeed({ content: [{ type: "text", text: "I would rather not." }] }))
    await serving(talker, ({ url }) =>
      Effect.gen(function* () {
        const ended = yield* run(["{a: 1}", ...at(url)], { env: key })
        expect(ended).toMatchObject({ code: 1, stderr: "error: the model gave no number: I would rather not.\n" })
      })
    )
  })

  it("requests streams only with the option", { timeout }, async ({ expect }) => {
    await serving(standIn, ({ requests, url }) =>
      Effect.gen(function* () {
        yield* run(['{"a": 1}', ...at(url)], { env: key })
        const whole = yield* requests
        expect(whole.filter(({ body }) => "stream" in Object(body))).toEqual([])
        yield* run(['{"a": 1}', ...at(url), "--stream"], { env: key })
        const streamed = (yield* requests).slice(whole.length)
        expect(streamed).toHaveLength(whole.length)
        expect(streamed.every(({ body }) => Object(body).stream === true)).toBe(true)
      })
    )
  })

  it("shows the first piece of a stream before the server sends the second", { timeout }, async ({ expect }) => {
    const shown = Deferred.makeUnsafe<void>()
    const talker = AnyWire.handler(() => Effect.succeed({ content: [{ type: "text", text: "First 1, then 2." }] }))
    // Piece 0 is the role, piece 1 the first text
    const gated = Fault.gated((piece) => (piece < 2 ? Effect.void : Deferred.await(shown)))
    await serving(
      Fault.inFront(() => gated, talker),
      ({ url }) =>
        Effect.gen(function* () {
          const ended = yield* run(["{a: 1}", ...at(url), "--stream"], {
            env: key,
            onOutput: (stdout) => {
              if (stdout.endsWith("says: First ")) Deferred.doneUnsafe(shown, Effect.void)
            }
          })
          expect(ended.code).toBe(0)
          expect(ended.stdout).toContain("says: First 1, then 2.\n")
          expect(answerLine(ended.stdout)).toBe("answer: First 1, then 2.")
        })
    )
  })

  it.each([
    ["whole", []],
    ["streamed", ["--stream"]]
  ])("ends at once when it is interrupted, and writes down how far it was: %s", { timeout }, async (_, flags) => {
    await serving(
      Fault.inFront(() => Fault.cut("nothing", "silence"), standIn),
      ({ url }) =>
        Effect.gen(function* () {
          const ended = yield* run(["{a: 1}", ...at(url), ...flags], {
            env: key,
            interruptAt: "asks any"
          })
          expect(ended.code).toBe(130)
          expect(ended.events.at(-1)).toMatchObject({ type: "run-interrupted" })
          expect(ended.events.at(-1)?.transcript).toHaveLength(2)
          expectNoStack(ended)
        })
    )
  })
})
