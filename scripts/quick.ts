/**
 * The quick checks: format, lint, types, and the tests of the folders that changed since `main`, committed or not.
 *
 *   npm run test:quick
 *
 * On `main` itself, with nothing changed, it takes what `origin/main` does not have, or else the last commit. Tests that start processes
 * are left out: `npm run test:processes` runs them.
 */
import { spawnSync } from "node:child_process"
import { baseOf, choose } from "./changed.ts"
import { pathsIn, root } from "./files.ts"
import { format, installations, lint, regexps, runAll, runTests, say, tests, types, words } from "./steps.ts"

/** What git prints; `undefined` where it fails. */
const git = (...parameters: ReadonlyArray<string>): string | undefined => {
  const { status, stdout } = spawnSync("git", parameters, { cwd: root, encoding: "utf8" })
  return status === 0 ? stdout : undefined
}

const hasCommit = (name: string): boolean => git("rev-parse", "--verify", "--quiet", `${name}^{commit}`) !== undefined

const listed = (paths = ""): ReadonlyArray<string> => paths.split("\0").filter((path) => path !== "")

const base = baseOf({
  branch: git("symbolic-ref", "--quiet", "--short", "HEAD")?.trim(),
  isDirty: git("status", "--porcelain") !== "",
  hasMain: hasCommit("main"),
  hasOriginMain: hasCommit("origin/main")
})
const commit = git("merge-base", base, "HEAD")?.trim() ?? "HEAD"

const changed = new Set([
  ...listed(git("diff", "--name-only", "--no-renames", "-z", commit)),
  ...listed(git("ls-files", "--others", "--exclude-standard", "-z"))
])

const few = (paths: ReadonlyArray<string>): string =>
  [...paths.slice(0, 5), ...(paths.length > 5 ? [`${paths.length - 5} more`] : [])].join(", ")

const isPure = (path: string) => path.endsWith(".test.ts") && !path.endsWith(".process.test.ts")
const { folders, processes, untested } = choose([...changed], (folder) => pathsIn(folder, isPure).length > 0)

say(`${changed.size} files changed since ${base} (${commit.slice(0, 10)})`)
say(folders.length === 0 ? "no folder of tests stands for them" : `tests of ${folders.join(", ")}`)
if (untested.length > 0) say(`types alone: ${few(untested)}`)
if (processes.length > 0) say(`left to npm run test:processes: ${few(processes)}`)
say("")

const succeeded =
  runAll([format, lint, words, regexps, ...installations, types]) &&
  (folders.length === 0 ||
    runTests(
      tests(
        ["pure"],
        folders.map((folder) => `${folder}/`)
      ),
      40
    ))
process.exitCode = succeeded ? 0 : 1
