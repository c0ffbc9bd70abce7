/** What `kintsugi serve` does. The other commands do not load this module, because it loads `@kintsugi/core` as a whole. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { watch } from "node:fs"
import process from "node:process"
import * as Finding from "../serve/Finding.ts"
import { type Loaded, Playground } from "../serve/Playground.ts"
import { type Serving, serve } from "../serve/Server.ts"
import { Failed } from "./failure.ts"
import { foldersLoaded, loadFresh } from "./fresh.ts"
import { coreOf, type Named, parse } from "./loading.ts"
import { print, remark } from "./terminal.ts"
import { shown } from "./writing.ts"

/** The providers whose keys are looked for in the environment. */
const providers = "ANTHROPIC AZURE_OPENAI DEEPSEEK GEMINI GOOGLE MOONSHOT OLLAMA OPENAI OPENROUTER PERPLEXITY".split(
  " "
)

const hasKey = (): boolean => providers.some((name) => (process.env[`${name}_API_KEY`] ?? "") !== "")

/** Learns where the page is, once it is served. Tests end the command by it. */
export const Served = Context.Reference<(serving: Serving) => Effect.Effect<void>>("@kintsugi/view/cli/serve/Served", {
  defaultValue: () => () => Effect.never
})

/** Loads the module anew, and finds the agent in it. */
const loading = ({ file, name }: Named): Effect.Effect<Loaded, Finding.Stuck, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const where = yield* shown(file)
    const exported = yield* Effect.mapError(
      loadFresh(file),
      ({ message }) => new Finding.Stuck({ problem: Finding.notLoaded(where, message) })
    )
    const found = Finding.find(exported, name, where)
    if ("title" in found) return yield* new Finding.Stuck({ problem: found })
    return { ...found, file: where, core: yield* coreOf(file) }
  })

/** Calls an effect after each change of a module in the folders of the loaded modules, once for changes that come together. */
const watching = (reload: Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const changes = yield* Queue.unbounded<string>()
    const watched = new Set<string>()
    const watchFolder = (folder: string) =>
      Effect.acquireRelease(
        Effect.sync(() =>
          watch(folder, { persistent: false }, (_, name) => {
            // Mutant `true` for `name !== null` survives: the text of null is no name of code
            if (name !== null && /\.(?:[cm]?[jt]sx?|json)$/.test(name)) Queue.offerUnsafe(changes, name)
          })
        ),
        (watcher) => Effect.sync(() => watcher.close())
      )
    // a changed module may import modules of other folders
    const look = Effect.suspend(() => {
      const added = foldersLoaded().filter((folder) => !watched.has(folder))
      for (const folder of added) watched.add(folder)
      return Effect.forEach(added, watchFolder)
    })
    yield* look
    yield* Stream.fromQueue(changes).pipe(
      Stream.debounce("50 millis"),
      Stream.runForEach(() => Effect.andThen(reload, look)),
      Effect.forkScoped
    )
  })

/** Serves the agent until the process ends. */
export const serving = (given: { readonly agent: string; readonly port: number }) =>
  Effect.gen(function* () {
    const named = yield* parse(given.agent)
    const path = yield* Path.Path
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path | Stdio.Stdio>()
    const scope = yield* Effect.scope
    const playground = new Playground(
      {
        load: Effect.provideContext(loading(named), services),
        folder: path.resolve(".kintsugi"),
        hasKey: hasKey(),
        say: (line) => Effect.provideContext(remark(line), services)
      },
      scope
    )
    yield* playground.reload
    const served = yield* Effect.mapError(
      serve(playground, { port: given.port }),
      ({ message }) => new Failed({ message: `cannot listen on port ${given.port}: ${message}` })
    )
    yield* watching(playground.reload)
    const { agent } = playground.state()
    const found = agent === undefined ? "" : `${agent.name} of ${agent.where}\n`
    yield* print(`${found}${served.url}\n`)
    yield* Effect.flatMap(Served, (tell) => tell(served))
  }).pipe(Effect.scoped)
