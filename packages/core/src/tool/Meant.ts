/** Finds the tool that a model means when it writes a name which no tool has, but only if there is no doubt. */
import type { ToolDefinition } from "./ToolDefinition.ts"

/** The fields of a tool that the search reads. */
type Candidate = Pick<ToolDefinition, "name" | "server" | "sideEffects" | "approval">

/**
 * Finds the only tool whose name equals `name` apart from case, separators and a known prefix: `functions.`, `tools.`, or the name of the
 * tool's server. A tool with unsafe side effects, or one that needs approval, is never guessed.
 */
export const meant = <A extends Candidate>(tools: ReadonlyArray<A>, name: string): A | undefined => {
  if (name.length > longest) return undefined
  const wanted = bareOf(name)
  const shortened = bareOf(name.replace(prefix, ""))
  const [found, other] = tools.filter((tool) => {
    const bare = bareOf(tool.name)
    if (bare === wanted || bare === shortened) return true
    if (tool.server === undefined) return false
    const server = bareOf(tool.server)
    return wanted === `${server}${bare}` || wanted === `mcp${server}${bare}`
  })
  if (found === undefined || other !== undefined) return undefined
  return found.sideEffects === "unsafe" || found.approval !== undefined ? undefined : found
}

/** The longest name to search for: twice the length that a tool's name may have. */
const longest = 128

const prefix = /^(?:functions?|tools?)[.:/_-]+/i

const bareOf = (name: string): string => name.toLowerCase().replaceAll(/[\s.:/_-]+/g, "")
