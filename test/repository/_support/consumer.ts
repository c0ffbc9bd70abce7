/** A project outside of the repository that installs the packed tarballs of every package. */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { packInto } from "../../../scripts/pack.ts"
import { dependencies, packages } from "../../../scripts/packages.ts"
import { binary } from "../../../scripts/tools.ts"

export const windows = process.platform === "win32"

/** Output of a program, exit code first, for a message that tells all. */
export const run = (program: string, parameters: ReadonlyArray<string>, cwd: string) => {
  const { error, status, stderr, stdout } = spawnSync(program, parameters, {
    cwd,
    encoding: "utf8",
    shell: windows && program.endsWith(".cmd"),
    env: {
      ...process.env,
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      NODE_PATH: undefined,
      npm_config_prefer_offline: "true"
    }
  })
  if (error) throw error
  return { status, stdout, output: `exit ${status}\n${stdout}${stderr}` }
}

export const node = (script: string, parameters: ReadonlyArray<string>, cwd: string) =>
  run(process.execPath, [script, ...parameters], cwd)

/** A folder outside of the repository, so that nothing of the workspace is found by walking up. */
export const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-packaging-"))
export const consumer = join(folder, "consumer")
export const installed = (name: string) => join(consumer, "node_modules/@kintsugi", name)
export const tarballs = new Map<string, string>()

export const manifestOf = (name: string) => JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8"))

/** Unpacks what a release would publish where a consumer would have it. */
const install = () => {
  const packed = packInto(folder)
  for (const name of packages) {
    const tarball = packed.get(`@kintsugi/${name}`) ?? ""
    tarballs.set(name, join(folder, tarball))
    mkdirSync(installed(name), { recursive: true })
    const unpacked = run("tar", ["-xzf", tarball, "-C", installed(name), "--strip-components=1"], folder)
    if (unpacked.status !== 0) throw new Error(unpacked.output)
  }
}

/** Gives the consumer a package of the workspace; its dependencies are found next to its real path. */
export const link = (name: string, from: string) => {
  const target = realpathSync(join(root, from, "node_modules", name))
  const path = join(consumer, "node_modules", name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, windows ? "junction" : "dir")
}

/** Where the type tests of the repository are compiled against what is installed, with the very same options. */
export const typeTests = join(consumer, "types")

export const checkTypes = (compiler: string, ...parameters: ReadonlyArray<string>) =>
  node(binary(compiler, "tsc"), ["-p", "test/types", "--noEmit", "--pretty", "false", ...parameters], typeTests)

export const write = (name: string, text: string) => writeFileSync(join(consumer, name), text)

const tsconfig = {
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable"],
    module: "nodenext",
    strict: true,
    noEmit: true,
    types: []
  },
  files: ["main.ts"]
}

const main = `
import { Agent, Recovery, Tool } from "@kintsugi/core"
import * as RecoveryModule from "@kintsugi/core/Recovery"
import * as CoreTesting from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import * as DurableModule from "@kintsugi/durable/Durable"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import * as Mcp from "@kintsugi/interop/Mcp"
import * as McpServer from "@kintsugi/interop/McpServer"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { OpenAi } from "@kintsugi/providers"
import * as OpenAiModule from "@kintsugi/providers/OpenAi"
import * as ProvidersTesting from "@kintsugi/providers/testing"
import { Recording, Svg, Scene } from "@kintsugi/view"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const shout = Agent.deterministic("shout", (text: string) => Effect.succeed(text.toUpperCase()))

const answer: string = await Effect.runPromise(shout("it works"))
const shouts = Durable.workflow(shout, { name: "shout", input: Schema.String, output: Schema.String })
const durably: string = await Effect.runPromise(
  shouts.workflow.execute({ id: "1", input: "it lasts" }).pipe(
    Effect.provide(shouts.layer.pipe(Layer.provideMerge(Durable.layerMemory)))
  )
)
const inputSchema = { jsonSchema: { type: "object", properties: {} } }
const foreign = AiSdk.tool("ring", { description: "Rings.", inputSchema, execute: () => "rung" })
const way = Mcp.http({ url: "http://localhost/mcp" }).kind
const served = Layer.isLayer(McpServer.http({ name: "ours", version: "1", path: "/mcp", tools: [] }))
const chunks: number = UiMessageStream.fromEvents([]).length
const picture: string = Svg.draw(Scene.make(Recording.parse("")))
const sameModules =
  Recovery.retry === RecoveryModule.retry &&
  OpenAi.model === OpenAiModule.model &&
  Durable.workflow === DurableModule.workflow
const kinds = [Tool.make, ...Object.values(CoreTesting), ...Object.values(ProvidersTesting)].map((value) => typeof value)

export const report: string = JSON.stringify({
  answer,
  durably,
  foreign: foreign.name,
  way,
  served,
  chunks,
  isDrawn: picture.startsWith("<svg"),
  sameModules,
  isEmpty: kinds.includes("undefined")
})
`

/** Packs every package, and makes the consumer. */
export const setUp = (): void => {
  mkdirSync(consumer, { recursive: true })
  install()
  link("effect", ".")
  for (const [name, needing] of dependencies()) link(name, needing)
  link("vitest", ".")
  link("@types/node", ".")
  write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }))
  write("tsconfig.json", JSON.stringify(tsconfig))
  write("main.ts", main)
  for (const path of ["tsconfig.base.json", "tsconfig.json", "test/types"]) {
    cpSync(join(root, path), join(typeTests, path), { recursive: true })
  }
  write("run.mjs", 'process.stdout.write((await import("./main.ts")).report)\n')
}

export const tearDown = (): void => rmSync(folder, { recursive: true, force: true })
