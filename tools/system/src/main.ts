/**
 * The tests that need more than Node: other runtimes and a browser, with the packages as they would be released;
 * pages of runs and the site as a browser shows them; and a cluster whose runners are killed.
 *
 *   npm run test:system
 *   npm run test:system -- browser pictures    (some parts: a wrong name lists them)
 *   npm run test:system -- site                (the site, which takes four minutes: it runs only by its name)
 *   npm run test:system -- pictures --write    (keeps what is drawn now as the references of `pictures`)
 *
 * What is missing is installed where that is possible (see `setup.ts`), else it is a skip, which is counted, and fails where `CI` is
 * set. The last line is `N passed, N failed, N skipped`.
 */
import { writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { root } from "../../../scripts/files.ts"
import { manifestOf, packages } from "../../../scripts/packages.ts"
import { Report } from "../../../scripts/report.ts"
import { provide, type Tool } from "../../../scripts/provide.ts"
import { binary } from "../../../scripts/tools.ts"
import { play } from "../../durable-lab/src/cluster.ts"
import { playLimits } from "../../durable-lab/src/limits.ts"
import { expected, talk } from "../../durable-lab/src/talking.ts"
import type { Checked } from "./consumer/scenario.ts"
import { withBrowser } from "./browser.ts"
import { bundle, type Files } from "./bundle.ts"
import { makeConsumer } from "./consumer.ts"
import { endOnSignals, type Folder, run } from "./ending.ts"
import { pictures } from "./pictures.ts"
import { reportPage, reportSpeed } from "./report.ts"
import { handler } from "./server.ts"
import { serve } from "./serve.ts"
import { site } from "./site.ts"
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
const printed = async (command: string, args: ReadonlyArray<string>, cwd: string): Promise<string> => {
  const { code, errors, out } = await run(command, args, { cwd, env: { NO_COLOR: "1" } })
  if (code !== 0) throw new Error(`exit code ${code}: ${errors}${out}`)
  return out
}

/** Runs something against a server of the scenario. */
const served = (use: (url: string) => Promise<void>, files?: Files) =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(LoopbackServer.make(handler(files)), ({ url }) => Effect.promise(() => use(url))))
  )

/** The types of this program, which a plain installation cannot check. */
const types = async (): Promise<void> => {
  const { code, out } = await run(process.execPath, [binary("typescript", "tsc"), "-p", "tools/system"], { cwd: root })
  report.check("the types of this program", code === 0, out)
}

const networkFaults = async (): Promise<void> => {
  const PATH = [programs, process.env["PATH"]].join(delimiter)
  const args = [join(root, "tools/system/src/portable.ts")]
  const { code, out } = await run(process.execPath, args, { cwd: root, env: { PATH, NO_COLOR: "1" } })
  for (const line of out.trimEnd().split("\n")) {
    const [, runtime = "", verdict = "", what = ""] = /^(\w+): (ok|WRONG|not installed)\s*(.*)$/.exec(line) ?? []
    if (verdict === "not installed") report.skip(`faults of the network under ${runtime}`, "it is missing")
    else report.check(`${runtime}: ${what.split(": ")[0]}`, verdict === "ok", line)
  }
  if (code !== 0 && report.failed === 0) throw new Error(`portable.ts ended with exit code ${code}`)
}

/** What the packages say of Node: one thing, all of them. */
const oldest = (): ReadonlySet<string> => new Set(packages.map((name) => manifestOf(name).engines.node))

let made: Folder | undefined

/** The project of the scenario, made when the first part needs it; it is gone when this program ends. */
const consumer = (): string => (made ??= makeConsumer()).path

/** Plays the scenario in a runtime. */
const played = (where: string, command: string, ...args: ReadonlyArray<string>): Promise<void> =>
  served(async (url) => seen(where, await printed(command, [...args, "runtime.ts", url], consumer())))

const oldestNode = async (node: string): Promise<void> => {
  const version = (await printed(node, ["--version"], consumer())).trim()
  const isOldest = oldest().has(`>=${version.slice(1)}`)
  report.check(`Node ${version} is what the packages ask for at least`, isOldest, version)
  await played(`Node ${version}`, node)
}

/** It strips types by itself under the oldest Node, and says nothing about that. */
const kintsugi = async (node: string): Promise<void> => {
  const policy =
    'import { Recovery } from "@kintsugi/core"\nexport const table: object = { A: Recovery.retry({ retries: 2 }) }\n'
  writeFileSync(join(consumer(), "policy.ts"), policy)
  const program = join(consumer(), "node_modules/@kintsugi/view/dist/cli/main.js")
  const explained = await printed(node, [program, "explain", "policy.ts"], consumer())
  report.check("kintsugi explains a policy", explained.includes("at worst: 3 attempts"), explained)
  const events = join(root, "docs/guide/pictures/events.jsonl")
  const page = await printed(node, [program, "report", events], consumer())
  report.check("kintsugi reports a run", page.startsWith("<!doctype html>"), page.slice(0, 200))
}

/** All that goes wrong there is what the server refuses and breaks off on purpose, and streams that are not read beyond their end. */
const browser = (chromium: string): Promise<void> =>
  withBrowser(chromium, report, (visit) =>
    served(
      (url) =>
        visit(
          { what: "Chromium", url: `${url}/`, expected: /status of 429|ERR_CONNECTION_RESET|ERR_ABORTED/ },
          async (page) => seen("Chromium", await page.locator("output").innerText())
        ),
      bundle(consumer())
    )
  )

const parts: Readonly<Record<string, () => Promise<void>>> = {
  types: () => needing("types", [tools.playwright], types),
  node: () => needing("Node", [], () => played("Node", process.execPath)),
  oldest: async () => {
    await needing("the oldest Node", [tools.oldestNode], (node = "") => oldestNode(node))
    await needing("kintsugi under the oldest Node", [tools.oldestNode], (node = "") => kintsugi(node))
  },
  bun: () => needing("Bun", [tools.bun], (bun = "") => played("Bun", bun, "run")),
  deno: () =>
    needing("Deno", [tools.deno], (deno = "") =>
      played("Deno", deno, "run", "--allow-all", "--no-lock", "--node-modules-dir=manual")
    ),
  browser: () => needing("Chromium", [tools.playwright, tools.chromium], (_, chromium = "") => browser(chromium)),
  pictures: () =>
    needing("pictures", [tools.playwright, tools.chromium], (_, chromium = "") =>
      pictures(chromium, report, process.argv.includes("--write"))
    ),
  report: () =>
    needing("the page of a report", [tools.playwright, tools.chromium], (_, chromium = "") =>
      reportPage(chromium, report)
    ),
  speed: () =>
    needing("the speed of a report", [tools.playwright, tools.chromium], (_, chromium = "") =>
      reportSpeed(chromium, report)
    ),
  serve: () => needing("serve", [tools.playwright, tools.chromium], (_, chromium = "") => serve(chromium, report)),
  site: () => needing("the site", [tools.playwright, tools.chromium], (_, chromium = "") => site(chromium, report)),
  cluster: () =>
    needing("the cluster", [tools.postgres], (postgres = "") =>
      play(postgres, "deaths", { orders: 60, seed: 1, patience: 60 }, report)
    ),
  limits: () => needing("limits on Redis", [tools.redis], (redis = "") => playLimits(redis, report)),
  conversations: () =>
    needing("conversations", [tools.postgres], async (postgres = "") => {
      const found = await talk(postgres)
      const title = "runners are killed in the middle of an unsafe tool: it runs once, and each message has one answer"
      report.check(title, JSON.stringify(found) === JSON.stringify(expected), JSON.stringify(found))
    }),
  network: () => needing("faults of the network", [tools.bun, tools.deno], networkFaults)
}

/** What takes long, or wants a machine of its own. */
const onlyByName = new Set(["site", "speed"])

const chosen = process.argv.slice(2).filter((word) => word !== "--write")
const unknown = chosen.filter((name) => !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  process.stderr.write(`there is no part ${unknown.join(", ")}: the parts are ${Object.keys(parts).join(", ")}\n`)
  process.exit(2)
}
endOnSignals()
for (const [name, part] of Object.entries(parts))
  if (chosen.length === 0 ? !onlyByName.has(name) : chosen.includes(name)) await part()
process.exitCode = report.end() ? 0 : 1
