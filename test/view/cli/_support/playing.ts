/** The command line within the test's own process, with what it says. */
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { ConfigProvider, Effect, Layer, Sink, Stdio, Stream } from "effect"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll } from "vitest"
import { IsInteropInstalled } from "../../../../packages/view/src/cli/mcp.ts"
import { run } from "../../../../packages/view/src/cli/program.ts"
import { Served } from "../../../../packages/view/src/cli/serving.ts"
import type { Serving } from "../../../../packages/view/src/serve/Server.ts"
import { root } from "../../../../scripts/files.ts"

/** Where the tests of one file keep their files; gone afterwards. Within the repository, so that policies find the packages. */
export const folderOfTests = () => {
  mkdirSync(join(root, ".cache"), { recursive: true })
  const folder = mkdtempSync(join(realpathSync(root), ".cache", "cli-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    ...filesIn(folder),
    /** A folder in it, for a test that would find what it has left there when it is repeated. */
    newFolder: () => filesIn(mkdtempSync(join(folder, "own-")))
  }
}

const filesIn = (folder: string) => ({
  folder,
  file: (name: string, text: string): string => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
})

export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Around {
  readonly stdin?: string | Stream.Stream<Uint8Array>
  /** Whether its standard output is a terminal, and its standard input. */
  readonly isTerminal?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** Whether the optional peer is there. */
  readonly isInteropInstalled?: boolean
  /** What is done with a page that is served. The command ends with it. */
  readonly served?: (serving: Serving) => Effect.Effect<void>
}

const text = (pieces: Array<string>) =>
  Sink.forEach((piece: string | Uint8Array) =>
    Effect.sync(() => void pieces.push(typeof piece === "string" ? piece : new TextDecoder().decode(piece)))
  )

/** The command line asks for it, and starts nothing. */
const noProcesses = Layer.succeed(
  ChildProcessSpawner.ChildProcessSpawner,
  ChildProcessSpawner.make(() => Effect.die("the command line starts no process"))
)

/** Runs it, and gives all that it says. */
export const kintsugi = (parameters: ReadonlyArray<string>, around?: Around) =>
  Effect.runPromise(playing(parameters, around))

/** The same as an effect, which has the clock of the test. */
export const playing = (
  parameters: ReadonlyArray<string>,
  { env = {}, isInteropInstalled = true, isTerminal = false, served = () => Effect.void, stdin = "" }: Around = {}
) => {
  const [out, err]: [Array<string>, Array<string>] = [[], []]
  const stdio = Stdio.layerTest({
    stdout: () => text(out),
    stderr: () => text(err),
    stdin: typeof stdin === "string" ? Stream.make(new TextEncoder().encode(stdin)) : stdin,
    stdoutIsTerminal: Effect.succeed(isTerminal),
    stdinIsTerminal: Effect.succeed(isTerminal)
  })
  const services = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer, stdio, noProcesses)
  return run(parameters, "1.2.3").pipe(
    Effect.map((code): Said => ({ code, out: out.join(""), err: err.join("") })),
    Effect.provide(services),
    Effect.provideService(IsInteropInstalled, () => isInteropInstalled),
    Effect.provideService(Served, served),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )
}
