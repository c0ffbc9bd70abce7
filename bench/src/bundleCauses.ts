/**
 * What the bundle of the hello agent is made of, and what its start and its first call take: by folder.
 *
 *   node scripts/launch.mjs bench/src/bundleCauses.ts             bytes, then the time on the processor
 *   node scripts/launch.mjs bench/src/bundleCauses.ts --cached    the time with Node's compile cache
 *
 * The bundle is made of the sources. For the time it is not minified, so that the lines of a profile tell the modules.
 */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import { helloOf, inFolder } from "./bundling.ts"
import { withServer } from "./loopback.ts"

const starts = 10
const most = 24

const entryPoints = [helloOf("ours")]
const options = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22",
  logLevel: "error",

  metafile: true
} as const

/** `core/run` of a source of ours, `effect Schema` of Effect's modules about schemas. */
const groupOf = (path: string): string => {
  const own = /packages\/(\w+)\/src\/([\w-]+)/.exec(path)
  if (own !== null) return `${own[1]}/${own[2]}`
  const [, module = ""] = /node_modules\/effect\/dist\/(.*)/.exec(path) ?? []
  if (/^(?:internal\/)?(?:schema|Schema|JsonSchema|Json)/.test(module)) return "effect: schemas"
  if (/^http|encoding\//.test(module)) return "effect: HTTP"
  if (/^(?:Stream|Channel|Pull|Queue|PubSub|Sink|Tx|internal\/stream)/.test(module)) return "effect: streams and queues"
  return module === "" ? path : "effect: the fiber and data"
}

const print = (title: string, unit: string, sums: ReadonlyMap<string, number>): void => {
  const all = [...sums].toSorted(([, a], [, b]) => b - a)
  const total = all.reduce((sum, [, value]) => sum + value, 0)
  process.stdout.write(`\n${title}: ${total.toFixed(1)} ${unit}\n`)
  for (const [name, value] of all.slice(0, most))
    process.stdout.write(`  ${value.toFixed(1).padStart(6)} ${unit}  ${name}\n`)
}

const add = (sums: Map<string, number>, key: string, value: number): void =>
  void sums.set(key, (sums.get(key) ?? 0) + value)

await inFolder((folder) =>
  withServer(async (baseUrl) => {
    const { metafile } = await build({ ...options, entryPoints, minify: true, outfile: join(folder, "small.mjs") })
    const bytes = new Map<string, number>()
    for (const { inputs } of Object.values(metafile.outputs))
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) add(bytes, groupOf(path), bytesInOutput / 1000)
    if (!process.argv.includes("--cached")) print("minified", "KB", bytes)

    const file = join(folder, "large.mjs")
    await build({ ...options, entryPoints, outfile: file })
    const groups: Array<string> = []
    let group = "the program"
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line.startsWith("// ") && line.endsWith("s")) group = groupOf(line)
      groups.push(group)
    }
    const script = `const { main } = await import(${JSON.stringify(pathToFileURL(file).href)}); await main("go", ${JSON.stringify(baseUrl)})`
    const cache = process.argv.includes("--cached") ? { NODE_COMPILE_CACHE: join(folder, "cache") } : {}
    const start = (...flags: ReadonlyArray<string>) =>
      execFileSync(process.execPath, [...flags, "--input-type=module", "-e", script], {
        env: { ...process.env, ...cache }
      })
    start()
    const profiles = join(folder, "profiles")
    for (let i = 0; i < starts; i++) start("--cpu-prof", "--cpu-prof-interval=100", `--cpu-prof-dir=${profiles}`)
    const time = new Map<string, number>()
    for (const name of readdirSync(profiles)) {
      const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(profiles, name), "utf8"))
      const causes = new Map<number, string>()
      for (const { callFrame, id } of nodes) {
        const { functionName, lineNumber, url } = callFrame
        causes.set(id, url.endsWith("large.mjs") ? (groups[lineNumber] ?? "") : `${functionName} ${url}`)
      }
      for (const [at, id] of samples.entries()) add(time, causes.get(id) ?? "", timeDeltas[at] / 1000 / starts)
    }
    print("start", "ms", time)
  })
)
