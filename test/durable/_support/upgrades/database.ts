/** The database in the folder of `Durable.layerPglite`. */
import { createRequire } from "node:module"
import { join } from "node:path"
import { root } from "../../../../scripts/files.ts"

/** What is used of PGlite. */
interface Database {
  readonly query: (query: string) => Promise<{ readonly rows: ReadonlyArray<{ readonly line: string }> }>
  readonly exec: (script: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** The package is installed beside that of durable runs. */
const load = createRequire(join(root, "packages/durable/package.json"))

export const database = (folder: string): Promise<Database> => {
  // cast: the package has no types here
  const { PGlite } = load("@electric-sql/pglite") as {
    readonly PGlite: { readonly create: (path: string) => Promise<Database> }
  }
  return PGlite.create(join(folder, "data"))
}
