/** What a source exports, as the checks of the architecture ask for it. */
import { declaredBy, entriesOf, isInternal, isTypeDeclaration } from "../../../scripts/exports.ts"
import { type File } from "../../../scripts/files.ts"
import { isNode, type Node, nodeIn, nodesIn, parsed, textIn } from "../../../scripts/syntax.ts"

/** One exported name. */
export interface Export {
  readonly name: string
  /** Its comment, or that of the statement that exports it, says `@internal`. */
  readonly isInternal: boolean
  /** It is a type, and another exported declaration of the file names it. */
  readonly isNamedByOthers: boolean
}

/** `isOnlyReexports`: the file exports names of other files and nothing else. */
export interface Exports {
  readonly names: ReadonlyArray<Export>
  readonly isOnlyReexports: boolean
}

export const exportsOf = ({ text }: File): Exports => {
  const { module, tree } = parsed(text)
  const statements = nodesIn(tree, "body")
  const declared = statements
    .filter((statement) => statement.type === "ExportNamedDeclaration" && nodeIn(statement, "declaration"))
    .map((statement) => ({
      names: declaredBy(statement).map(([name]) => name),
      text: text.slice(statement.start, statement.end)
    }))
  const isNamedByOthers = (name: string): boolean => {
    const word = new RegExp(`\\b${name}\\b`)
    return declared.some((other) => !other.names.includes(name) && word.test(other.text))
  }
  const names = [...Map.groupBy(entriesOf(text), ({ name }) => name)].flatMap(([name, entries]): Array<Export> => {
    if (name === undefined) return []
    const isType = entries.some(({ declarations }) => declarations.some(isTypeDeclaration))
    return [{ name, isInternal: entries.every(isInternal), isNamedByOthers: isType && isNamedByOthers(name) }]
  })
  const imported = new Set(
    module.staticImports.flatMap(({ entries }) => entries.map(({ localName }) => localName.value))
  )
  const isImported = (node: Node | undefined): boolean =>
    node?.type === "MemberExpression" ? isImported(nodeIn(node, "object")) : imported.has(textIn(node, "name") ?? "")
  /** Whether a statement only exports a name of another file, in any form. */
  const passesOn = (statement: Node): boolean => {
    if (statement.type === "ExportAllDeclaration") return true
    if (statement.type !== "ExportNamedDeclaration") return false
    const declaration = nodeIn(statement, "declaration")
    if (declaration?.type === "VariableDeclaration") {
      return nodesIn(declaration, "declarations").every((one) => isImported(nodeIn(one, "init")))
    }
    if (declaration !== undefined) return false
    const specifiers = nodesIn(statement, "specifiers")
    return isNode(statement["source"]) || specifiers.every((specifier) => isImported(nodeIn(specifier, "local")))
  }
  const others = statements.filter(({ type }) => type !== "ImportDeclaration")
  return { names, isOnlyReexports: others.length > 0 && others.every(passesOn) }
}
