import { useQuery } from '@tanstack/react-query'
import { asked } from '../../data/asked.ts'
import { Choice, type FieldsProps, Lines } from './fields.tsx'
import styles from './new-task.module.css'

/** The words that the prompt is put into, from a file of the home. */
export function TemplateFields({ written, change }: FieldsProps) {
  const { data } = useQuery(asked.templates)
  const chosen = data?.find(({ name }) => name === written.template)
  if (data?.length === 0)
    return (
      <p className={`faint ${styles.wide}`}>
        There are none. A file <code>prompts/tasks/NAME.md</code> in Pawl’s home is one; <code>{'{{task}}'}</code> in it is what
        is written above.
      </p>
    )
  return (
    <>
      <Choice label="Template" value={written.template} onChange={(template) => change({ template })}>
        <option value="">none</option>
        {data?.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      {chosen && <pre className={`${styles.wide} ${styles.template}`}>{chosen.text}</pre>}
      {chosen?.takesContext && (
        <Lines
          label="Context, which the template also names"
          value={written.context}
          onChange={(context) => change({ context })}
        />
      )}
    </>
  )
}
