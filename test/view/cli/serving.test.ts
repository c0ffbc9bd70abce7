/** `kintsugi serve` within the process of the test: what it says, what it watches, and when it loads anew. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Model } from "@kintsugi/core"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import fs, { existsSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest"
import { root } from "../../../scripts/files.ts"
import type { Serving } from "../../../packages/view/src/serve/Server.ts"
import type { State } from "../../../packages/view/src/serve/browser/Wire.ts"
import { folderOfTests } from "./_support/playing.ts"

const { folder: ofTests, newFolder } = folderOfTests()

/** That of Node: tests of pages put another one in its stead, and all tests may run in one process. */
const { fetch } = globalThis

let playing: typeof import("./_support/playing.ts").playing

// the command imports a module while it runs: when another test has reset the modules, it needs the rest of the new ones
beforeEach(async () => {
  ;({ playing } = await import("./_support/playing.ts"))
})

/** What a page of the command asks for. */
const pageAt = ({ token, url }: Serving) => {
  const asked = (path: string, init?: RequestInit) =>
    Effect.promise(async () => {
      const response = await fetch(new URL(path, url), {
        ...init,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }
      })
      return response.text()
    })
  const state = Effect.map(asked("/state"), (text): State => JSON.parse(text))
  return {
    asked,
    state,
    /** Loads the module anew, behind all loads that have begun, and gives the number of loads. */
    loads: Effect.andThen(
      asked("/reload", { method: "POST", body: "{}" }),
      Effect.map(state, ({ version }) => version)
    )
  }
}

/** A folder that is watched. */
interface Watched {
  readonly folder: string
  readonly options: unknown
  readonly changed: (name: string | null) => void
  isClosed: boolean
}

/** The folders that are watched, of the tests of this file. */
let watched: ReadonlyArray<Watched> = []

// the changes of a folder come from the test, so that it knows when one does not come
beforeEach(() => {
  const all: Array<Watched> = []
  watched = all
  vi.spyOn(fs, "watch").mockImplementation(((
    path: string,
    options: unknown,
    listener: (event: string, name: string | null) => void
  ) => {
    const one: Watched = { folder: path, options, changed: (name) => listener("change", name), isClosed: false }
    // other tests of this process have loaded modules of other folders
    if (path.startsWith(ofTests)) all.push(one)
    return { close: () => (one.isClosed = true) }
    // cast: the command uses no more of a watcher
  }) as unknown as typeof fs.watch)
  syncBuiltinESMExports()
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  syncBuiltinESMExports()
})

/** A module with the agent and the layer of the test, so that Node loads no copy of core. */
const desk = (imports = "") => `${imports}export const { agent, layer } = globalThis.desk\n`

beforeAll(() => {
  const model = { name: "none", provider: "none", generate: () => Effect.never, stream: () => Stream.never }
  Object.assign(globalThis, { desk: { agent: Agent.make("desk", {}), layer: Layer.succeed(Model.Model, model) } })
})

afterAll(() => Reflect.deleteProperty(globalThis, "desk"))

// Vitest leaves modules in such a folder to Node
const app = "node_modules/app"

describe("kintsugi serve", () => {
  it.effect("says which agent is on which page, and ends with what is done with it [P1288]", () =>
    Effect.gen(function* () {
      const { file } = newFolder()
      const path = file(`${app}/agent.mjs`, desk())
      let [url, title]: ReadonlyArray<string | undefined> = []
      const said = yield* playing(["serve", path], {
        served: (serving) =>
          Effect.gen(function* () {
            url = serving.url
            title = (yield* pageAt(serving).state).agent?.name
          })
      })
      assert.deepStrictEqual(said, {
        code: 0,
        out: `desk of ${path.slice(root.length + 1)}#agent\n${url}\n`,
        err: ""
      })
      assert.strictEqual(title, "desk")
    })
  )

  it.effect("says why there is no agent, and serves the page all the same [P1287]", () =>
    Effect.gen(function* () {
      const { file, folder } = newFolder()
      const [broken, none] = [
        file(`${app}/broken.mjs`, "export const = 1"),
        file(`${app}/none.mjs`, "export const a = 1")
      ]
      for (const [path, title, found] of [
        [broken, "broken.mjs cannot be loaded", "SyntaxError: "],
        [none, "none.mjs exports no agent", "Found a (number)."],
        [`${none}#desk`, "none.mjs exports no agent named desk", "Found a (number)."],
        [join(folder, app, "missing.mjs"), "missing.mjs cannot be loaded", "missing.mjs: there is no such file"]
      ] as const) {
        let problem: State["problem"]
        const said = yield* playing(["serve", path], {
          served: (serving) => Effect.map(pageAt(serving).state, (state) => void (problem = state.problem))
        })
        assert.strictEqual(problem?.title, `${join(folder, app).slice(root.length + 1)}/${title}`)
        assert.include(problem?.found, found)
        assert.match(said.out, /^http:\/\/127\.0\.0\.1:\d+\/\?token=\S+\n$/)
        assert.strictEqual(said.err, `${[problem?.title, problem?.found, "", problem?.paste].join("\n")}\n`)
      }
    })
  )

  it.effect("loads the module anew once after changes of code that come together [P1288]", () =>
    Effect.gen(function* () {
      const { file } = newFolder()
      file(`${app}/deep/first.mjs`, "")
      const path = file(`${app}/agent.mjs`, desk('import "./deep/first.mjs"\n'))
      const served = (serving: Serving) =>
        Effect.gen(function* () {
          const { loads } = pageAt(serving)
          const changed = (...names: ReadonlyArray<string | null>) =>
            Effect.andThen(
              Effect.sync(() => names.forEach((name) => watched[0]?.changed(name))),
              TestClock.adjust("50 millis")
            )
          let expected = 2
          assert.strictEqual(yield* loads, expected)
          for (const names of [
            ["agent.mjs"],
            ["a.js", "b.ts"],
            ["a.cjs"],
            ["a.mts"],
            ["a.jsx"],
            ["a.tsx"],
            ["a.json"]
          ]) {
            yield* changed(...names)
            expected += 2
            assert.strictEqual(yield* loads, expected, names.join(" "))
          }
          for (const name of [null, "notes.txt", "a.jsonl", "a.xjs", "ajs", "a.sx", "a.mjs.swp", "json"]) {
            yield* changed(name)
            assert.strictEqual(yield* loads, ++expected, String(name))
          }
          watched[0]?.changed("agent.mjs")
          yield* TestClock.adjust("49 millis")
          watched[1]?.changed("first.mjs")
          yield* TestClock.adjust("49 millis")
          assert.strictEqual(yield* loads, ++expected)
          yield* TestClock.adjust("1 millis")
          expected += 2
          assert.strictEqual(yield* loads, expected)
        })
      assert.strictEqual((yield* playing(["serve", path], { served })).code, 0)
    })
  )

  it.effect("watches the folders of all modules that were loaded, each once, until it ends [P1288]", () =>
    Effect.gen(function* () {
      const { file, folder } = newFolder()
      const at = (name: string) => join(folder, app, name)
      file(`${app}/deep/first.mjs`, "")
      file(`${app}/late/second.mjs`, "")
      const path = file(`${app}/agent.mjs`, desk('import "./deep/first.mjs"\n'))
      const own = () => watched.filter((one) => one.folder.startsWith(join(folder, app)))
      const served = (serving: Serving) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(
            own().map((one) => [one.folder, one.options]),
            [join(folder, app), at("deep")].map((folder) => [folder, { persistent: false }])
          )
          writeFileSync(path, desk('import "./deep/first.mjs"\nimport "./late/second.mjs"\n'))
          own()[0]?.changed("agent.mjs")
          yield* TestClock.adjust("50 millis")
          yield* pageAt(serving).loads
          own()[0]?.changed("agent.mjs")
          yield* TestClock.adjust("50 millis")
          yield* pageAt(serving).loads
          assert.deepStrictEqual(
            own().map((one) => one.folder),
            [join(folder, app), at("deep"), at("late")]
          )
          assert.isFalse(own().some(({ isClosed }) => isClosed))
        })
      yield* playing(["serve", path], { served })
      assert.isTrue(own().every(({ isClosed }) => isClosed))
    })
  )

  it.effect("knows whether the environment has a key of a provider [P1288]", () =>
    Effect.gen(function* () {
      const { file } = newFolder()
      const path = file(`${app}/agent.mjs`, desk())
      const names = [
        ..."ANTHROPIC AZURE_OPENAI DEEPSEEK GEMINI GOOGLE".split(" "),
        ..."MOONSHOT OLLAMA OPENAI OPENROUTER PERPLEXITY".split(" ")
      ]
      const hasKey = (env: Readonly<Record<string, string | undefined>>) =>
        Effect.gen(function* () {
          for (const name of names) vi.stubEnv(`${name}_API_KEY`, undefined)
          for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
          let found: boolean | undefined
          yield* playing(["serve", path], {
            served: (serving) => Effect.map(pageAt(serving).state, ({ agent }) => void (found = agent?.prefersModel))
          })
          return found
        })
      assert.isFalse(yield* hasKey({}))
      assert.isFalse(yield* hasKey({ OPENAI_API_KEY: "", OTHER_API_KEY: "k", OPENAI: "k" }))
      for (const name of names) assert.isTrue(yield* hasKey({ [`${name}_API_KEY`]: "k" }), name)
    })
  )

  it.effect("keeps runs in the folder .kintsugi of the person [P1285]", () =>
    Effect.gen(function* () {
      const { file, folder } = newFolder()
      const path = file(`${app}/agent.mjs`, desk())
      vi.spyOn(process, "cwd").mockReturnValue(folder)
      const run = { input: "hello", model: "stand-in", tools: "run", faults: [], seed: 1 }
      let answer = ""
      yield* playing(["serve", path], {
        served: (serving) =>
          Effect.map(
            pageAt(serving).asked("/runs", { method: "POST", body: JSON.stringify(run) }),
            (text) => void (answer = text)
          )
      })
      const { id } = JSON.parse(answer)
      assert.isTrue(existsSync(join(folder, ".kintsugi", "runs", `${id}.json`)), answer)
    })
  )

  it.effect("listens on the port that is wanted, unless another program does [P1288]", () =>
    Effect.gen(function* () {
      const { file } = newFolder()
      const path = file(`${app}/agent.mjs`, desk())
      let port = 0
      let taken: unknown
      const said = yield* playing(["serve", path], {
        served: (serving) =>
          Effect.gen(function* () {
            port = serving.port
            taken = yield* playing(["serve", path, "--port", String(port)])
          })
      })
      assert.strictEqual(said.code, 0)
      assert.deepStrictEqual(taken, {
        code: 1,
        out: "",
        err: `error: cannot listen on port ${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`
      })
      const next = yield* playing(["serve", path, "--port", String(port)])
      assert.include(next.out, `\nhttp://127.0.0.1:${port}/`)
    })
  )
})
