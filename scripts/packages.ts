/** The packages that are published, and the exports of each. */
import { posix } from "node:path"
import { read } from "./files.ts"

/** Their folders below `packages`, in the order in which they build. */
export const packages = ["core", "providers", "durable", "interop", "view"] as const

/** What the manifest of a package says, as far as scripts ask for it. */
export interface Manifest {
  readonly version: string
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
  readonly publishConfig: {
    readonly access: string
    readonly provenance: boolean
    readonly exports: Readonly<Record<string, string>>
    readonly bin?: Readonly<Record<string, string>>
  }
}

export const manifestOf = (name: string): Manifest => JSON.parse(read(`packages/${name}/package.json`).text)

/** The sources that a package exports, from the root, each by the path under which it is imported: `@kintsugi/core/Tool`. */
export const exportsOf = (name: string): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(manifestOf(name).exports).map(([key, path]) => [
      posix.join(`@kintsugi/${name}`, key),
      posix.join("packages", name, path)
    ])
  )

/** The packages of others that an installation of these packages brings, each with the folder of the package that needs it. */
export const dependencies = (): ReadonlyArray<readonly [name: string, needing: string]> =>
  packages.flatMap((name) =>
    Object.keys(manifestOf(name).dependencies ?? {})
      .filter((dependency) => !dependency.startsWith("@kintsugi/"))
      .map((dependency) => [dependency, `packages/${name}`] as const)
  )
