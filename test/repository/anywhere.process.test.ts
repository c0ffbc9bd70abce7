/** A checkout may have any name and stand in any folder. */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, relative } from "node:path"
import { afterAll, expect, it } from "vitest"
import { root } from "../../scripts/files.ts"
import { type Result, TALLY } from "../../scripts/tally.ts"
import { binary } from "../../scripts/tools.ts"

const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-anywhere-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The name that `git clone` gives, below what shells, replacements and patterns interpret, and letters that are not ASCII. */
const checkout = join(folder, "it's $& (1+1) ключ-金継ぎ", "kintsugi")

/** What is built is left out; so are the dependencies, except for the links to them in the packages of the workspace. */
const isCopied = (path: string): boolean =>
  basename(path) === "node_modules"
    ? /^(packages\/[^/]+\/)?node_modules$/.test(relative(root, path).replaceAll("\\", "/"))
    : ![".pnpm", ".vite", "dist"].includes(basename(path))

/** Tests that start `kintsugi` in a shell, with a name in the current folder and with a path. */
const tests = ["exits with its codes", "which policies there are"]

it("tests of the command line pass in a folder with a difficult name", { timeout: 240_000 }, () => {
  mkdirSync(checkout, { recursive: true })
  for (const name of ["docs", "node_modules", "package.json", "packages", "scripts", "test", "vitest.config.ts"]) {
    cpSync(join(root, name), join(checkout, name), { recursive: true, verbatimSymlinks: true, filter: isCopied })
  }
  symlinkSync(join(root, "node_modules/.pnpm"), join(checkout, "node_modules/.pnpm"), "dir")
  const tally = join(folder, "tally.json")
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [binary("vitest"), "run", "/cli/", "-t", tests.join("|"), "--typecheck=false", "--maxWorkers=1"],
    { cwd: checkout, encoding: "utf8", env: { ...process.env, NO_COLOR: "1", [TALLY]: tally } }
  )
  expect(status, stdout + stderr).toBe(0)
  const { failed, passed }: Result = JSON.parse(readFileSync(tally, "utf8"))
  expect({ failed, passed }).toEqual({ failed: 0, passed: tests.length })
})
