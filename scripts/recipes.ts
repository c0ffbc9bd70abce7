/**
 * Runs the project that a page tells readers to make, against the packages as a release would pack them, and the recipes that need an
 * installation of their own: those of hosts, and that of a page, which Chromium shows. What is missing is installed where that is possible,
 * else it is a skip, which fails where `CI` is set.
 *
 *   npm run test:recipes
 *
 * The last line is `N passed, N failed, N skipped`.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { endOnSignals } from "../tools/system/src/ending.ts"
import { tools } from "../tools/system/src/tools.ts"
import { read, root } from "./files.ts"
import { tryHosts } from "./hostRecipes.ts"
import { provide } from "./provide.ts"
import { tryLarge } from "./recipes/large.ts"
import { Report } from "./report.ts"
import { installIn, page, recipe } from "./sdk.ts"
import { make, stepsOf } from "./starter.ts"

endOnSignals()
const windows = process.platform === "win32"
const report = new Report()
const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-recipes-"))

/** Runs a script of the project at a folder. */
const script = (name: string, cwd: string) => {
  const { OPENAI_API_KEY: _key, ...env } = process.env
  return spawnSync(windows ? "npm.cmd" : "npm", ["run", "--silent", name], {
    cwd,
    encoding: "utf8",
    env,
    shell: windows
  })
}

/** The project of the page Getting started, in an empty folder: each script prints what the page shows. */
const starter = (home: string): void => {
  make(home, () => undefined)
  const page = read("docs/guide/getting-started.md").text
  const names = [...page.matchAll(/^Run `npm run (\w+)`|[.] Run\s+`npm run (\w+)`/gm)].map(
    ([, one, other]) => one ?? other ?? ""
  )
  for (const [index, { output }] of stepsOf(page).entries()) {
    if (output === undefined) continue
    const name = names[index] ?? ""
    const { stderr, stdout } = script(name, home)
    // after its program, the picture prints how the run ended, and how long it took
    const isShown = name === "picture" ? stdout.startsWith(`${output}✓ Completed: desk answered`) : stdout === output
    report.check(`starter: npm run ${name} prints what the page shows`, isShown, `${stdout}${stderr}`)
  }
  report.check("starter: the picture is there", existsSync(join(home, "report.html")))
  const types = script("types", home)
  report.check("starter: the types are right", types.status === 0, types.stdout)
  const model = script("model", home)
  const isSaid = model.status === 1 && model.stderr === "set OPENAI_API_KEY\n"
  report.check("starter: without a key the last program says so in one line, and ends with 1", isSaid, model.stderr)
}

/** What the driver of the browser imports is there only now. */
interface Driver {
  readonly tryChatPage: (chromium: string, report: Report) => Promise<void>
}

/** The recipe with a page, in Chromium. */
const tryPage = async (): Promise<void> => {
  if (!installIn(recipe(page))) return report.check(`${page}: it is installed`, false)
  const playwright = provide(tools.playwright, true)
  if ("why" in playwright) return report.skip(page, `${tools.playwright.name} is missing: ${playwright.why}`)
  const chromium = provide(tools.chromium, true)
  if ("why" in chromium) return report.skip(page, `${tools.chromium.name} is missing: ${chromium.why}`)
  const driver: Driver = await import(pathToFileURL(join(root, "tools/system/src/chatPage.ts")).href)
  await driver.tryChatPage(chromium.path, report)
}

try {
  starter(join(folder, "my-agent"))
} catch (error) {
  report.check("starter: the project is made", false, String(error))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
await tryHosts(report)
await tryLarge(report)
await tryPage()
process.exitCode = report.end() ? 0 : 1
