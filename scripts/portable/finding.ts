/** What in a source holds on POSIX alone: paths put together or taken apart by `/`, and signals that other systems do not have. */
import type { File } from "../files.ts"
import { lineAt, type Node, nodeIn, nodesIn, parse, textIn, walk } from "../syntax.ts"

export interface Finding {
  readonly path: string
  readonly line: number
  readonly says: string
}

/** Functions that give a path of the file system. Of `node:path` only those that use the separator of the system. */
const givesPath = new Set([
  "join",
  "resolve",
  "dirname",
  "normalize",
  "fileURLToPath",
  "tmpdir",
  "homedir",
  "cwd",
  "mkdtempSync",
  "realpathSync"
])

/** What may be sent and heard everywhere: on Windows both ends of a process are sudden, and Ctrl-C is heard as SIGINT. */
const isSent = (signal: string): boolean => signal === "SIGTERM" || signal === "SIGKILL"
const isHeard = (signal: string): boolean => signal === "SIGTERM" || signal === "SIGINT"

const nameOf = (node: Node | undefined): string | undefined =>
  node?.type === "Identifier"
    ? textIn(node, "name")
    : node?.type === "MemberExpression"
      ? textIn(nodeIn(node, "property"), "name")
      : undefined

const isPosix = (callee: Node | undefined): boolean =>
  callee?.type === "MemberExpression" && nameOf(nodeIn(callee, "object")) === "posix"

const isOfModule = (node: Node | undefined, property: string): boolean =>
  node?.type === "MemberExpression" && nodeIn(node, "object")?.type === "MetaProperty" && nameOf(node) === property

/** An address of a file of the repository: `new URL("…", import.meta.url)`. */
const isOwnUrl = (node: Node | undefined): boolean =>
  node?.type === "NewExpression" &&
  nameOf(nodeIn(node, "callee")) === "URL" &&
  nodesIn(node, "arguments").some((one) => isOfModule(one, "url"))

/** The names in a source that hold what `is` finds. */
const namesOf = (tree: Node, is: (node: Node) => boolean): ReadonlySet<string> =>
  new Set(
    [...walk(tree)].flatMap((node) => {
      if (node.type !== "VariableDeclarator") return []
      const [name, value] = [nameOf(nodeIn(node, "id")), nodeIn(node, "init")]
      return name !== undefined && value !== undefined && is(value) ? [name] : []
    })
  )

/** All signals in the arguments of a call, however deep. */
const signalsIn = (call: Node): ReadonlyArray<string> =>
  nodesIn(call, "arguments").flatMap((argument) =>
    [...walk(argument)].flatMap((node) => {
      const value = node.type === "Literal" ? textIn(node, "value") : undefined
      return value !== undefined && /^SIG[A-Z0-9]+$/.test(value) ? [value] : []
    })
  )

/** What a source does that only POSIX has. A file that looks at `process.platform` knows what it does. */
export const findingsIn = ({ path, text }: File): ReadonlyArray<Finding> => {
  if (text.includes("process.platform")) return []
  const tree = parse(text, path)
  const isDirectPath = (node: Node): boolean =>
    (node.type === "CallExpression" &&
      givesPath.has(nameOf(nodeIn(node, "callee")) ?? "") &&
      !isPosix(nodeIn(node, "callee"))) ||
    isOfModule(node, "dirname") ||
    isOfModule(node, "filename")
  const paths = namesOf(tree, isDirectPath)
  const urls = namesOf(tree, isOwnUrl)
  const isPath = (node: Node | undefined): boolean =>
    node !== undefined && (isDirectPath(node) || (node.type === "Identifier" && paths.has(nameOf(node) ?? "")))
  const at = (node: Node, says: string): Finding => ({ path, line: lineAt(text, node.start), says })
  return [...walk(tree)].flatMap((node) => {
    if (node.type === "TemplateLiteral") {
      const quasis = nodesIn(node, "quasis")
      const isJoined = nodesIn(node, "expressions").some((expression, index) => {
        const next = quasis[index + 1]
        return (
          isPath(expression) &&
          next !== undefined &&
          text.slice(next.start, next.end).replace(/^\}/, "").startsWith("/")
        )
      })
      return isJoined ? [at(node, "joins a path with '/': use join of node:path")] : []
    }
    if (node.type === "BinaryExpression" && isPath(nodeIn(node, "left"))) {
      const right = textIn(nodeIn(node, "right"), "value")
      return right?.startsWith("/") === true ? [at(node, "joins a path with '/': use join of node:path")] : []
    }
    if (node.type === "MemberExpression" && nameOf(node) === "pathname") {
      const object = nodeIn(node, "object")
      const isOwn = isOwnUrl(object) || urls.has(nameOf(object) ?? "")
      return isOwn ? [at(node, "takes the pathname of a file's URL: use fileURLToPath")] : []
    }
    if (node.type !== "CallExpression") return []
    const callee = nodeIn(node, "callee")
    const [name, object] = [nameOf(callee), callee === undefined ? undefined : nodeIn(callee, "object")]
    const [first] = nodesIn(node, "arguments")
    if (name === "split" && isPath(object) && textIn(first, "value") === "/")
      return [at(node, "splits a path at '/': use sep of node:path")]
    const refused =
      name === "kill"
        ? signalsIn(node).filter((signal) => !isSent(signal))
        : name === "on" || name === "once"
          ? signalsIn(node).filter((signal) => !isHeard(signal))
          : []
    return refused.map((signal) =>
      at(node, `${name === "kill" ? "sends" : "waits for"} ${signal}, which Windows does not know`)
    )
  })
}
