import { Agent, Skill, Tool } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { reply } from "@kintsugi/examples/demo/standIn"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
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

describe.concurrent("the demo", () => {
  it("meets each layer once by default, and answers [A412]", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run([]))
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    const lines = ended.stdout.split("\n")
    const uses = lines.filter((line) => line.startsWith("  calculateNumberOfKeys("))
    expect(uses).toEqual([
      expect.stringMatching(
        /^ {2}calculateNumberOfKeys\({name: world, age: 30, active: true}\) = ERROR: Tool 'calculateNumberOfKeys' failed: .*{"name":"world","age":30,"active":true} \(severity: HIGH\)\. Please retry with corrected arguments\.$/
      ),
      '  calculateNumberOfKeys({"name":"world","age":30,"active":true}) = 3'
    ])
    expect(answerLine(ended.stdout)).toBe("answer: 3")
    expect(ended.stdout).not.toContain("\u001b")
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

  it("gives the same answer when it streams", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run(["--stream"]))
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(answerLine(ended.stdout)).toBe("answer: 3")
    expect(layersOf(ended)).toEqual(["transport", "model", "tool"])
    expect(ended.events.some(({ type }) => type === "text-delta")).toBe(true)
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
  it("is what the last line names, with the events beside it [P1246]", { timeout }, async ({ expect }) => {
    const ended = await Effect.runPromise(run([]))
    const path = reportOf(ended.stdout) ?? ""
    expect(readFileSync(path, "utf8")).toMatch(/^<!doctype html>/)
    const events = readFileSync(join(path, "../events.jsonl"), "utf8").trimEnd().split("\n")
    expect(events.map((line): unknown => JSON.parse(line))).toEqual(ended.events)
  })

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

describe("the stand-in model behind real HTTP", () => {
  const Unit = Schema.Literals(["celsius", "fahrenheit"])
  const weather = Tool.make("get_weather", {
    description: "Current weather of a city.",
    parameters: Schema.Struct({ city: Schema.String, unit: Unit }),
    success: Schema.Struct({ degrees: Schema.Finite, unit: Unit }),
    run: ({ unit }) => Effect.succeed({ degrees: unit === "celsius" ? 21 : 70, unit })
  })
  const sum = Tool.make("sum_column", {
    description: "Adds up a column of numbers.",
    parameters: Schema.Struct({ values: Schema.Array(Schema.Finite) }),
    success: Schema.Finite,
    run: ({ values }) => Effect.succeed(values.reduce((total, value) => total + value, 0))
  })
  const assistant = Agent.make("assistant", {
    prompt: "Help the user.",
    skills: [Skill.make("help", { description: "Weather and sums", tools: [weather, sum] })]
  })

  it.each([
    ["What is the weather in Oslo, in Fahrenheit?", "70"],
    ["Please add this column of numbers up: [1, 2, 39.5", "42.5"]
  ])("serves an agent with tools that it has never seen: %s", { timeout }, (request, answer) =>
    serving(standIn, ({ url }) =>
      Effect.gen(function* () {
        const text = yield* assistant(request)
        expect(text).toContain(answer)
      }).pipe(
        Effect.orDie,
        Effect.provide(
          Layer.provide(
            OpenAi.layer({ model: "any", apiKey: Redacted.make("any-key"), baseUrl: `${url}/v1` }),
            Transport.layerFetch
          )
        )
      )
    )
  )
})
