/**
 * The bill of materials of a package: what its installation brings, in CycloneDX, compared with what its packed modules import. It reads
 * the manifests in `node_modules`, so it has the versions of the lock file.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "./files.ts"
import { manifestOf } from "./packages.ts"
import { parsed } from "./syntax.ts"

/** A package of others, as it is installed. */
export interface Component {
  readonly name: string
  readonly version: string
  readonly license: string
  /** Scripts that an installation would run. */
  readonly installs: ReadonlyArray<string>
}

/** A package and what its installation brings. */
export interface Bill {
  readonly name: string
  readonly version: string
  readonly components: ReadonlyArray<Component>
  /** The names that its manifest declares, those of this repository too. */
  readonly declared: ReadonlySet<string>
}

interface Installed {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

const manifestIn = (folder: string): Installed => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** The folder of a package, as Node finds it from another one. */
const folderOf = (name: string, from: string): string | undefined => {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    const found = join(folder, "node_modules", name)
    if (existsSync(join(found, "package.json"))) return realpathSync(found)
  }
  return undefined
}

const onInstall = new Set(["preinstall", "install", "postinstall"])

/** The bill of a package of this repository, its optional peers included. */
export const billOf = (name: string): Bill => {
  const { dependencies = {}, peerDependencies = {}, version } = manifestOf(name)
  const declared = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])
  const found = new Map<string, Component>()
  const home = join(root, "packages", name)
  const left = [...declared].filter((one) => !one.startsWith("@kintsugi/")).map((one) => [one, home] as const)
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const folder = folderOf(...next)
    if (folder === undefined) throw new Error(`${next[0]}, which ${next[1]} needs, is not installed`)
    const manifest = manifestIn(folder)
    const key = `${manifest.name}@${manifest.version}`
    if (found.has(key)) continue
    found.set(key, {
      name: manifest.name,
      version: manifest.version,
      license: manifest.license ?? "none",
      installs: Object.keys(manifest.scripts ?? {}).filter((script) => onInstall.has(script))
    })
    left.push(...Object.keys(manifest.dependencies ?? {}).map((one) => [one, folder] as const))
  }
  const components = [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return { name: `@kintsugi/${name}`, version, components, declared }
}

/** The packages that modules import, by the texts of a tarball's files. Types do not count: an installation may lack them. */
export const importedIn = (files: ReadonlyMap<string, string>): ReadonlySet<string> =>
  new Set(
    [...files].flatMap(([path, text]) => {
      if (!path.endsWith(".js")) return []
      const { module } = parsed(text, path)
      const sources = module.staticExports.flatMap(({ entries }) => entries.map((one) => one.moduleRequest?.value))
      const loaded = module.dynamicImports.map(({ moduleRequest: { end, start } }) =>
        /^(["'])(.+)\1$/.exec(text.slice(start, end))?.at(2)
      )
      const all = [...module.staticImports.map(({ moduleRequest }) => moduleRequest.value), ...sources, ...loaded]
      return all.flatMap((one) => (one === undefined || one.startsWith(".") ? [] : packageOf(one)))
    })
  )

const packageOf = (specifier: string): ReadonlyArray<string> => {
  if (specifier.startsWith("node:")) return []
  const [scope = "", name] = specifier.split("/")
  return [scope.startsWith("@") ? `${scope}/${name}` : scope]
}

/** Licences that ask for no more than their text. */
const licences = new Set(["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD", "Unlicense"])

const major = (version: string): string => /^0\.\d+|^\d+/.exec(version)?.[0] ?? version

/** What forbids to publish a package with this bill and these files. */
export const billFaults = (
  { components, declared, name }: Bill,
  files: ReadonlyMap<string, string>
): ReadonlyArray<string> => {
  const imported = importedIn(files)
  const own = (one: string) => one === name
  // an optional peer is resolved by its name, so that its lack is an error of this library
  const isNamed = (one: string) =>
    [...files].some(([path, text]) => path.endsWith(".js") && (text.includes(`"${one}"`) || text.includes(`"${one}/`)))
  const majors = Map.groupBy(components, (one) => one.name)
  return [
    ...[...imported]
      .filter((one) => !own(one) && !declared.has(one))
      .map((one) => `imports ${one}, which it does not declare`),
    ...[...declared]
      .filter((one) => !imported.has(one) && !isNamed(one))
      .map((one) => `declares ${one}, which no module of it imports`),
    ...components.flatMap(({ installs, license, name, version }) => [
      ...(licences.has(license) ? [] : [`brings ${name}@${version} with the licence ${license}`]),
      ...installs.map((script) => `brings ${name}@${version}, which runs a script at ${script}`)
    ]),
    ...[...majors].flatMap(([one, all]) => {
      const versions = new Set(all.map(({ version }) => major(version)))
      return versions.size > 1 ? [`brings ${one} twice: ${all.map(({ version }) => version).join(", ")}`] : []
    })
  ]
}

const purl = (name: string, version: string): string => `pkg:npm/${name.replace("@", "%40")}@${version}`

/** The bill in CycloneDX 1.6, the same for the same installation. */
export const cycloneDx = ({ components, name, version }: Bill): object => ({
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  version: 1,
  metadata: {
    component: { type: "library", "bom-ref": purl(name, version), name, version, purl: purl(name, version) }
  },
  components: components.map((one) => ({
    type: "library",
    "bom-ref": purl(one.name, one.version),
    name: one.name,
    version: one.version,
    licenses: [{ license: { id: one.license } }],
    purl: purl(one.name, one.version)
  }))
})
