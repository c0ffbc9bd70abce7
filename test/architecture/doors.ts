/**
 * The table of doors: what is not stable in Effect, or not ours, enters through the modules that are named here.
 *
 * Whatever a package imports from outside of itself is either open to all of it, or stands behind a door.
 */

export interface Door {
  /** A package or folder of a package; everything below it is meant as well. `node:` is all of Node's own modules. */
  readonly to: string
  /** The modules that may pass, with their files in `internal/`. */
  readonly through: ReadonlyArray<string>
}

export interface House {
  /** Open to every module of the package. */
  readonly open: ReadonlyArray<RegExp>
  readonly doors: ReadonlyArray<Door>
}

/** Modules at the root of Effect, each by its own path: the barrel costs a newcomer four times the import time. */
const effectModules = /^effect\/[A-Z]\w*$/

export const houses: Readonly<Record<string, House>> = {
  "packages/core/src": {
    open: [effectModules],
    doors: [
      { to: "jsonrepair", through: ["Coercion"] },
      { to: "effect/testing", through: ["testing/*"] },
      // not stable: what imports it stands apart from the index of the kit
      { to: "effect/Arbitrary", through: ["testing/*"] },
      { to: "fast-check", through: ["testing/*"] }
    ]
  },
  "packages/providers/src": {
    open: [effectModules, /^@kintsugi\/core(\/(?!internal\/).+)?$/],
    doors: [
      // A recording stands in the place of the HTTP client.
      { to: "effect/http", through: ["Transport", "Mcp", "McpServer", "testing/Recording"] },
      { to: "effect/encoding", through: ["Transport", "Mcp"] },
      { to: "effect/process", through: ["Mcp"] },
      // The command line is a program of its own: no module of the library imports it.
      { to: "effect/cli", through: ["cli/*"] },
      { to: "@effect/platform-node-shared", through: ["cli/*"] },
      { to: "effect/persistence", through: ["Resilience"] },
      { to: "effect/ai", through: ["EffectAi", "Mcp", "McpServer"] },
      { to: "effect/workflow", through: ["Durable"] },
      { to: "effect/cluster", through: ["Durable"] },
      { to: "effect/sql", through: ["Durable"] },
      { to: "effect/testing", through: ["testing/*"] },
      // Pictures are drawn without a DOM, in browsers too.
      { to: "d3-array", through: ["view/axis", "view/layout"] },
      { to: "d3-time", through: ["view/axis"] },
      // The loopback server of `testing/` is made of Node's own HTTP server, and recordings are files.
      { to: "node:", through: ["testing/*", "testing/Recording", "cli/*"] }
    ]
  }
}
