/** The command line within the test's own process, with what it says, and as a process of its own. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { ConfigProvider, Effect, Layer, Sink, Stdio, Stream } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"
import { run } from "../../../../packages/view/src/cli/program.ts"
import { root } from "../../../../scripts/files.ts"

/** Where the tests of one file keep their files; gone afterwards. Within the repository, so that policies find the packages. */
mkdirSync(join(root, ".cache"), { recursive: true })
export const folder = mkdtempSync(join(realpathSync(root), ".cache", "cli-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

export const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Around {
  readonly stdin?: string
  /** Whether its standard output is a terminal, and its standard input. */
  readonly isTerminal?: boolean
  readonly env?: Readonly<Record<string, string>>
}

const text = (pieces: Array<string>) =>
  Sink.forEach((piece: string | Uint8Array) =>
    Effect.sync(() => void pieces.push(typeof piece === "string" ? piece : new TextDecoder().decode(piece)))
  )

/** Runs it, and gives all that it says. */
export const kintsugi = (
  parameters: ReadonlyArray<string>,
  { env = {}, isTerminal = false, stdin = "" }: Around = {}
) => {
  const [out, err]: [Array<string>, Array<string>] = [[], []]
  const stdio = Stdio.layerTest({
    stdout: () => text(out),
    stderr: () => text(err),
    stdin: Stream.make(new TextEncoder().encode(stdin)),
    stdoutIsTerminal: Effect.succeed(isTerminal),
    stdinIsTerminal: Effect.succeed(isTerminal)
  })
  const services = NodeChildProcessSpawner.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer, stdio))
  )
  return Effect.runPromise(
    run(parameters, "1.2.3").pipe(
      Effect.map((code): Said => ({ code, out: out.join(""), err: err.join("") })),
      Effect.provide(services),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )
  )
}

export const main = join(root, "packages/view/src/cli/main.ts")

/** A path as one word of a shell. */
export const quoted = (path: string): string => `'${path.replaceAll("'", () => "'\\''")}'`

/** Runs a command in a shell, where `kintsugi` is the program. */
export const shell = (command: string, env: Readonly<Record<string, string>> = {}): Said => {
  const { NO_COLOR: _n, FORCE_COLOR: _f, ...rest } = process.env
  const program = `kintsugi() { ${quoted(process.execPath)} ${quoted(main)} "$@"; }`
  const { status, stderr, stdout } = spawnSync("bash", ["-c", `set -o pipefail; ${program}; ${command}`], {
    cwd: folder,
    encoding: "utf8",
    env: { ...rest, ...env }
  })
  return { code: status ?? -1, out: stdout, err: stderr }
}
