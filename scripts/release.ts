/**
 * Tries a release: builds the packages, packs them, checks each tarball, and publishes it in a dry run that reaches no registry. It
 * prints what would be published, and fails with everything that is wrong with it.
 *
 *   npm run release:check
 *   npm run release:check -- --repository=https://…    the manifests have to name this repository, as npm's provenance asks
 *   npm run release:check -- --bills=folder            writes the bill of materials of each package there, in CycloneDX
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { build } from "./build.ts"
import { root } from "./files.ts"
import { packages } from "./packages.ts"
import { billFaults, billOf, cycloneDx } from "./sbom.ts"
import { packageManager } from "./tools.ts"

/** The manifest of a tarball, as far as a release asks for it. */
interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly private?: boolean
  readonly license?: string
  readonly files?: ReadonlyArray<string>
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly repository?: { readonly type?: string; readonly url?: string; readonly directory?: string }
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean }
}

/** A package as it would be published. */
export interface Tarball {
  /** Its folder below `packages`. */
  readonly name: string
  /** The texts of its files, by their paths. */
  readonly files: ReadonlyMap<string, string>
  /** The sources that the repository keeps, relative to the package. */
  readonly sources: ReadonlySet<string>
  /** Where the repository is published, if it is. */
  readonly repository?: string | undefined
}

const required = ["AGENTS.md", "LICENSE", "README.md", "package.json"]
const contents = ["dist", "src", "README.md", "AGENTS.md", "LICENSE"]

const isTest = (path: string): boolean => /\.(?:test|test-d|bench)\.|(?:^|\/)(?:_support|fixtures|tests?)\//.test(path)

const isPublished = (path: string): boolean =>
  required.includes(path) || /^(?:dist\/.+\.(?:js|d\.ts)(?:\.map)?|src\/.+\.ts)$/.test(path)

const fileFaults = ({ files, sources }: Tarball): ReadonlyArray<string> => [
  ...required.filter((path) => (files.get(path) ?? "").trim() === "").map((path) => `lacks ${path}`),
  ...[...files].flatMap(([path, text]) => {
    if (isTest(path)) return [`holds a test: ${path}`]
    if (!isPublished(path)) return [`holds ${path}, which is none of the files that a package publishes`]
    if (path.startsWith("src/") && !sources.has(path)) return [`holds ${path}, which git does not know`]
    return text.includes(root) ? [`names a folder of this machine in ${path}`] : []
  })
]

const repositoryFaults = ({ repository: found }: Manifest, { name, repository }: Tarball): ReadonlyArray<string> => {
  if (found === undefined) return repository === undefined ? [] : ["names no repository"]
  const url = repository === undefined ? found.url : `git+${repository}.git`
  const isRight = found.type === "git" && found.url === url && found.directory === `packages/${name}`
  return isRight ? [] : [`names the repository ${JSON.stringify(found)}, not ${url} with its folder packages/${name}`]
}

const manifestFaults = (manifest: Manifest, tarball: Tarball): ReadonlyArray<string> => {
  const { bin = {}, exports = {}, files = [], license, name, private: isPrivate, publishConfig } = manifest
  const targets = [...Object.values(exports), ...Object.values(bin)].map((path) => path.replace(/^\.\//, ""))
  const asked: ReadonlyArray<readonly [isSo: boolean, fault: string]> = [
    [name === `@kintsugi/${tarball.name}`, `has the name ${name}`],
    [isPrivate !== true, "is private"],
    [license === "MIT", `has the licence ${license}`],
    [publishConfig?.access === "public", "has no publishConfig.access: public"],
    [publishConfig?.provenance === true, "has no publishConfig.provenance: true"],
    [files.toSorted().join() === contents.toSorted().join(), `publishes the list [${files.join(", ")}]`],
    [targets.length > 0, "exports nothing"],
    [!JSON.stringify({ ...manifest, devDependencies: {} }).includes("workspace:"), "depends on a path of the workspace"]
  ]
  return [
    ...asked.flatMap(([isSo, fault]) => (isSo ? [] : [fault])),
    ...targets.filter((path) => !tarball.files.has(path)).map((path) => `exports ${path}, which it does not hold`),
    ...repositoryFaults(manifest, tarball)
  ]
}

/** Everything that forbids to publish a tarball. */
export const faultsOf = (tarball: Tarball): ReadonlyArray<string> => [
  ...fileFaults(tarball),
  ...manifestFaults(JSON.parse(tarball.files.get("package.json") ?? "{}"), tarball)
]

const windows = process.platform === "win32"

const run = (program: string, parameters: ReadonlyArray<string>, cwd: string): string => {
  const { error, status, stderr, stdout } = spawnSync(program, parameters, {
    cwd,
    encoding: "utf8",
    shell: windows && program.endsWith(".cmd"),
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, npm_config_fetch_retries: "0" }
  })
  if (error !== undefined) throw error
  if (status !== 0)
    throw new Error(`${program} ${parameters.join(" ")} ended with exit code ${status}\n${stdout}${stderr}`)
  return stdout
}

const pnpm = (parameters: ReadonlyArray<string>, cwd: string): string =>
  run(windows ? "npx.cmd" : "npx", ["--yes", packageManager(), ...parameters], cwd)

const linesIn = (text: string): ReadonlyArray<string> => text.split(/\r?\n/).filter((line) => line !== "")

/** No server listens on the discard port, so a dry run asks no registry and its outcome is the same everywhere. */
const nowhere = "http://127.0.0.1:9/"

interface Options {
  /** Where the repository is published, if it is. */
  readonly repository: string | undefined
  /** The folder for the bills of materials. */
  readonly bills: string | undefined
}

/** Packs a package into a folder; prints what a release would publish, and gives what is wrong with it. */
const tryPackage = (name: string, folder: string, { bills, repository }: Options): ReadonlyArray<string> => {
  const home = join(root, "packages", name)
  const { filename }: { readonly filename: string } = JSON.parse(
    pnpm(["pack", "--json", "--pack-destination", folder], home)
  )
  const tarball = basename(filename)
  const paths = linesIn(run("tar", ["-tzf", tarball], folder)).filter((path) => !path.endsWith("/"))
  run("tar", ["-xzf", tarball], folder)
  const files = new Map(paths.map((path) => [path.replace("package/", ""), readFileSync(join(folder, path), "utf8")]))
  rmSync(join(folder, "package"), { recursive: true })
  const sources = new Set(linesIn(run("git", ["ls-files", "src"], home)))
  const dry = ["--dry-run", "--no-git-checks", "--json", "--provenance", "--access", "public", "--registry", nowhere]
  const published: Readonly<
    Record<string, { version: string; entryCount: number; size: number; unpackedSize: number }>
  > = JSON.parse(pnpm(["publish", join(folder, tarball), ...dry], home))
  for (const [title, { entryCount, size, unpackedSize, version }] of Object.entries(published))
    say(row([title, version, `${entryCount}`, kilobytes(size), kilobytes(unpackedSize)]))
  const bill = billOf(name)
  if (bills !== undefined) {
    mkdirSync(bills, { recursive: true })
    writeFileSync(join(bills, `${name}.cdx.json`), `${JSON.stringify(cycloneDx(bill), undefined, 2)}\n`)
  }
  return [...faultsOf({ name, files, sources, repository }), ...billFaults(bill, files)].map(
    (fault) => `@kintsugi/${name} ${fault}`
  )
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`
const row = ([name = "", ...cells]: ReadonlyArray<string>): string =>
  [name.padEnd(22), ...cells.map((cell) => cell.padStart(10))].join("")

const check = (options: Options): boolean => {
  if (!build()) return false
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-release-"))
  try {
    say(row(["package", "version", "files", "packed", "unpacked"]))
    const faults = packages.flatMap((name) => tryPackage(name, folder, options))
    for (const fault of faults) say(fault)
    if (options.repository === undefined)
      say("the dry run does not ask which repository the manifests name: see CONTRIBUTING.md")
    return faults.length === 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const option = (name: string) => process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
  process.exitCode = check({ repository: option("repository"), bills: option("bills") }) ? 0 : 1
}
