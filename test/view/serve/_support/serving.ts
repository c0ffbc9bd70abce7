/** A playground with a server, in a folder of its own; both are gone at the end of the test. */
import * as core from "@kintsugi/core"
import { Effect, Option, Scope, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Found } from "../../../../packages/view/src/serve/Finding.ts"
import { type Loaded, Playground } from "../../../../packages/view/src/serve/Playground.ts"
import { serve } from "../../../../packages/view/src/serve/Server.ts"
import type { Choice, State } from "../../../../packages/view/src/serve/browser/Wire.ts"

/** That of Node: tests of pages put another one in its stead, and all tests may run in one process. */
export const { fetch } = globalThis

/** A folder that is removed with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "serve-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** What the module holds. A test changes it, and loads again. */
export interface Module {
  found: Omit<Found, "name"> & { readonly name?: string }
}

export const playgroundIn = (path: string, module: Module, said: Array<string> = []) =>
  Effect.gen(function* () {
    const load = Effect.sync((): Loaded => ({ name: "agent", ...module.found, file: "agent.ts", core }))
    const playground = new Playground(
      { load, folder: path, hasKey: false, pause: 0, say: (line) => Effect.sync(() => void said.push(line)) },
      yield* Scope.Scope
    )
    yield* playground.reload
    return playground
  })

/** A playground that is served, with a `fetch` that brings the token. */
export const servingOf = (module: Module) =>
  Effect.gen(function* () {
    const path = yield* folder
    const said: Array<string> = []
    const playground = yield* playgroundIn(path, module, said)
    const served = yield* serve(playground, { port: 0 })
    const at = `http://127.0.0.1:${served.port}`
    const asked = (path: string, given: RequestInit = {}) =>
      Effect.promise(() =>
        fetch(`${at}${path}`, {
          ...given,
          headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json", ...given.headers }
        })
      )
    const posted = (path: string, body: unknown = {}) => asked(path, { method: "POST", body: JSON.stringify(body) })
    return { playground, served, at, asked, posted, said, folder: path }
  })

/** A choice of a person: the stand-in, and no faults. */
export const choice = (more: Partial<Choice> = {}): Choice => ({
  input: "refund order A-17",
  model: "stand-in",
  tools: "run",
  faults: [],
  seed: 7,
  ...more
})

/** Waits until a run has this status. */
export const until = (playground: Playground, id: string, status: State["runs"][number]["status"]) =>
  playground.changes(0).pipe(
    Stream.map(() => playground.state().runs.find((run) => run.id === id)),
    Stream.filter((run) => run?.status === status),
    Stream.runHead,
    // the stream of changes has no end
    Effect.map(Option.getOrThrow),
    Effect.flatMap((run) => (run === undefined ? Effect.die(new Error("there is no such run")) : Effect.succeed(run)))
  )
