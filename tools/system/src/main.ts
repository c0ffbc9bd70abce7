/**
 * The tests that need more than Node: the official SDKs, other runtimes and a browser, with the packages as they would be released;
 * pages of runs as a browser shows them; and a cluster whose runners are killed.
 *
 *   npm run test:system
 *
 * What is missing is installed where that is possible (see `setup.ts`), else it is a skip, which is counted, and fails where `CI` is
 * set. The last line is `N passed, N failed, N skipped`.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { root } from "../../../scripts/files.ts"
import { manifestOf, packages } from "../../../scripts/packages.ts"
import { Report } from "../../../scripts/report.ts"
import { provide, type Tool } from "../../../scripts/provide.ts"
import { type Tally, TALLY } from "../../../scripts/tally.ts"
import { binary } from "../../../scripts/tools.ts"
import { play } from "../../durable-lab/src/cluster.ts"
import type { Checked } from "./consumer/scenario.ts"
import { handler } from "./server.ts"
import { bundle, show } from "./browser.ts"
import { makeConsumer } from "./consumer.ts"
import { pictures } from "./pictures.ts"
import { programs, tools } from "./tools.ts"

const report = new Report()

/** Tries something that needs a tool; without it that is a skip. */
const needing = async (what: string, needed: ReadonlyArray<Tool>, act: (...paths: Array<string>) => Promise<void>) => {
  const start = performance.now()
  const paths: Array<string> = []
  for (const tool of needed) {
    const found = provide(tool, true)
    if ("why" in found) return report.skip(what, `${tool.name} is missing: ${found.why}`)
    paths.push(found.path)
  }
  await act(...paths).catch((error: unknown) => report.check(what, false, String(error)))
  console.log(`== ${what}: ${((performance.now() - start) / 1000).toFixed(1)} s\n`)
}

const seen = (where: string, text: string): void => {
  const checked: ReadonlyArray<Checked> = JSON.parse(text)
  report.check(`${where}: the scenario was played`, checked.length > 20, text)
  for (const { isRight, said, what } of checked) report.check(`${where}: ${what}`, isRight, said)
}

/** What a program prints. It has to end well. */
const printed = (command: string, args: ReadonlyArray<string>, cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1" }
    })
    let [out, errors] = ["", ""]
    child.stdout.on("data", (chunk) => (out += String(chunk)))
    child.stderr.on("data", (chunk) => (errors += String(chunk)))
    child.on("error", reject)
    child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`exit code ${code}: ${errors}${out}`))))
  })

const listening = (files?: Parameters<typeof handler>[0], result?: Parameters<typeof handler>[1]) =>
  LoopbackServer.make(handler(files, result))

/** Runs something against a server of the scenario. */
const served = (use: (url: string) => Promise<void>) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(listening(), ({ url }) => Effect.promise(() => use(url)))))

const officialSdks = async (): Promise<void> => {
  const path = join(root, ".cache", "tally-system.json")
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  spawnSync(process.execPath, [binary("vitest"), "run", "test/sdk"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, [TALLY]: path }
  })
  if (!existsSync(path)) throw new Error("Vitest ended without a result")
  const tally: Tally = JSON.parse(readFileSync(path, "utf8"))
  report.count("the official SDKs", tally)
}

const networkFaults = async (): Promise<void> => {
  const PATH = [programs, process.env["PATH"]].join(delimiter)
  const { status, stdout } = spawnSync(process.execPath, [join(root, "tools/system/src/portable.ts")], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, PATH, NO_COLOR: "1" }
  })
  for (const line of stdout.trimEnd().split("\n")) {
    const [, runtime = "", verdict = "", what = ""] = /^(\w+): (ok|WRONG|not installed)\s*(.*)$/.exec(line) ?? []
    if (verdict === "not installed") report.skip(`faults of the network under ${runtime}`, "it is missing")
    else report.check(`${runtime}: ${what.split(": ")[0]}`, verdict === "ok", line)
  }
  if (status !== 0 && report.failed === 0) throw new Error(`portable.ts ended with exit code ${status}`)
}

/** What the packages say of Node: one thing, all of them. */
const oldest = (): ReadonlySet<string> => new Set(packages.map((name) => manifestOf(name).engines.node))

await needing("the official SDKs", [tools.sdks], officialSdks)

const consumer = makeConsumer()
try {
  await needing("Node", [], () =>
    served(async (url) => seen("Node", await printed(process.execPath, ["runtime.ts", url], consumer.folder)))
  )
  await needing("the oldest Node", [tools.oldestNode], (node = "") =>
    served(async (url) => {
      const version = (await printed(node, ["--version"], consumer.folder)).trim()
      report.check(
        `Node ${version} is what the packages ask for at least`,
        oldest().has(`>=${version.slice(1)}`),
        version
      )
      seen(`Node ${version}`, await printed(node, ["runtime.ts", url], consumer.folder))
    })
  )
  // it strips types by itself there, and says nothing about that
  await needing("kintsugi under the oldest Node", [tools.oldestNode], async (node = "") => {
    const policy =
      'import { Recovery } from "@kintsugi/core"\nexport const table: object = { A: Recovery.retry({ retries: 2 }) }\n'
    writeFileSync(join(consumer.folder, "policy.ts"), policy)
    const program = join(consumer.folder, "node_modules/@kintsugi/view/dist/cli/main.js")
    const explained = await printed(node, [program, "explain", "policy.ts"], consumer.folder)
    report.check("kintsugi explains a policy", explained.includes("at worst: 3 attempts"), explained)
    const events = join(root, "docs/guide/pictures/events.jsonl")
    const page = await printed(node, [program, "report", events], consumer.folder)
    report.check("kintsugi reports a run", page.startsWith("<!doctype html>"), page.slice(0, 200))
  })
  await needing("Bun", [tools.bun], (bun = "") =>
    served(async (url) => seen("Bun", await printed(bun, ["run", "runtime.ts", url], consumer.folder)))
  )
  await needing("Deno", [tools.deno], (deno = "") =>
    served(async (url) => {
      const args = ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual", "runtime.ts", url]
      seen("Deno", await printed(deno, args, consumer.folder))
    })
  )
  await needing("Chromium", [tools.chromium], async (chromium = "") => {
    const files = bundle(consumer.folder)
    const said = Promise.withResolvers<string>()
    const shown = Effect.flatMap(listening(files, said.resolve), ({ url }) =>
      Effect.promise(() => show(chromium, `${url}/`, said.promise))
    )
    seen("Chromium", await Effect.runPromise(Effect.scoped(shown)))
  })
  await needing("pictures", [tools.chromium], (chromium = "") => pictures(chromium, report))
} finally {
  consumer.close()
}
await needing("the cluster", [tools.durable, tools.postgres], (_, postgres = "") =>
  play(postgres, "deaths", { orders: 60, seed: 1, patience: 60 }, report)
)
await needing("faults of the network", [tools.bun, tools.deno], networkFaults)
process.exitCode = report.end() ? 0 : 1
