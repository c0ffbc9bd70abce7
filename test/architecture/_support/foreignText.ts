/** The functions and classes that sources export, and what the tables of the growth test say of them. */
import { entriesOf } from "../../../scripts/exports.ts"
import type { File } from "../../../scripts/files.ts"
import { type Node, nodeIn, nodesIn, textIn } from "../../../scripts/syntax.ts"

const functions = new Set(["FunctionDeclaration", "ClassDeclaration", "TSDeclareFunction"])

const expressions = new Set(["ArrowFunctionExpression", "FunctionExpression", "ClassExpression"])

const wrappers = new Set(["ParenthesizedExpression", "TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"])

/** What makes a function of a schema or of another function. */
const makers = /^(?:Schema\.(?:is|asserts|decode\w*|encode\w*)|Effect\.fn\w*|Function\.dual|dual)$/

/** Whether an expression is a function, with or without a word about its type. */
const isFunction = (node: Node | undefined, text: string): boolean => {
  if (node === undefined) return false
  if (expressions.has(node.type)) return true
  if (wrappers.has(node.type)) return isFunction(nodeIn(node, "expression"), text)
  const callee = node.type === "CallExpression" ? nodeIn(node, "callee") : undefined
  if (callee === undefined) return false
  // `Effect.fn("name")(function* …)` is called twice
  const called = callee.type === "CallExpression" ? nodeIn(callee, "callee") : callee
  return called !== undefined && makers.test(text.slice(called.start, called.end))
}

/** The names of the functions and classes that a source declares and exports; what it passes on is those of another one. */
export const functionsOf = ({ text }: File): ReadonlyArray<string> => [
  ...new Set(
    entriesOf(text).flatMap(({ declarations, from, isOnlyType, name }) => {
      if (name === undefined || from !== undefined || isOnlyType) return []
      const isOne = declarations.some((declaration) => {
        const all = nodesIn(declaration, "declarations")
        // one that is exported under another name stands alone
        const own = all.filter((one) => all.length === 1 || textIn(nodeIn(one, "id"), "name") === name)
        return functions.has(declaration.type) || own.some((one) => isFunction(nodeIn(one, "init"), text))
      })
      return isOne ? [name] : []
    })
  )
]

/** What the tables say of each name, by the paths of the files from `packages`. */
export type Listed = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Functions of the files that no table lists, and what a table lists and no file exports. */
export const inputViolations = (files: ReadonlyArray<File>, listed: Listed): ReadonlyArray<string> => {
  const exported = new Map(files.map((file) => [file.path.replace(/^packages\//, ""), functionsOf(file)]))
  const missing = [...exported].flatMap(([path, names]) =>
    names
      .filter((name) => listed[path]?.[name] === undefined)
      .map((name) => `${path} exports ${name}: test/_support/inputs has no entry for it`)
  )
  const idle = Object.entries(listed).flatMap(([path, names]) =>
    Object.keys(names)
      .filter((name) => exported.get(path)?.includes(name) !== true)
      .map((name) => `test/_support/inputs lists ${name} of ${path}: it exports no such function`)
  )
  return [...missing, ...idle]
}
