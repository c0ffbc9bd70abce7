/**
 * Runs the project that a page tells readers to make, against the packages as a release would pack them, and the recipes that need an
 * installation of their own. PostgreSQL is installed where that is possible, else it is a skip, which fails where `CI` is set.
 *
 *   npm run test:recipes
 *
 * The last line is `N passed, N failed, N skipped`.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { endOnSignals } from "../tools/system/src/ending.ts"
import { read } from "./files.ts"
import { tryHosts } from "./hostRecipes.ts"
import { tryLarge } from "./recipes/large.ts"
import { Report } from "./report.ts"
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
    report.check(`starter: npm run ${name} prints what the page shows`, stdout === output, `${stdout}${stderr}`)
  }
  report.check("starter: the picture is there", existsSync(join(home, "report.html")))
  const types = script("types", home)
  report.check("starter: the types are right", types.status === 0, types.stdout)
  const model = script("model", home)
  report.check("starter: without a key the last program ends with 1", model.status === 1, model.stderr)
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
process.exitCode = report.end() ? 0 : 1
