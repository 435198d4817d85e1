import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { asked } from '../../data/asked.ts'
import { Choice, type FieldsProps, Text, Tick } from './fields.tsx'
import { FolderBrowser } from './folder-browser.tsx'
import styles from './new-task.module.css'
import type { Written } from './written.ts'

/** Where it works, and whether in the folder itself. */
export function WorkspaceFields({ written, change }: FieldsProps) {
  const [isBrowsing, setBrowsing] = useState(false)
  const { data } = useQuery(asked.folders())
  const { workspace, workspaceMode } = written
  return (
    <>
      <div className={`stack ${styles.workspace}`}>
        <Text
          label="Workspace, an absolute path; empty: one of its own"
          list="workspaces"
          value={workspace}
          onChange={(path) => change({ workspace: path, allowHome: false })}
        />
        <datalist id="workspaces">
          {data?.recent.map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <div className={styles.chips}>
          {data?.recent.slice(0, 3).map((path) => (
            <button
              key={path}
              type="button"
              className="small"
              title={path}
              onClick={() => change({ workspace: path, allowHome: false })}
            >
              {path.split('/').at(-1)}
            </button>
          ))}
          {data && data.items.length > 0 && (
            <button type="button" className="small" aria-expanded={isBrowsing} onClick={() => setBrowsing(!isBrowsing)}>
              Browse…
            </button>
          )}
        </div>
      </div>
      <Choice<Written['workspaceMode']>
        label="Works in"
        value={workspaceMode}
        onChange={(mode) => change({ workspaceMode: mode })}
      >
        <option value="">what suits the folder</option>
        <option value="direct">the folder itself</option>
        <option value="copy">a copy</option>
        <option value="clone">a clone of the repository</option>
      </Choice>
      {workspaceMode === 'clone' && (
        <Tick
          label="Put its branch into the repository at the end"
          value={written.bringBack}
          onChange={(bringBack) => change({ bringBack })}
        />
      )}
      {isBrowsing && (
        <FolderBrowser
          from={workspace.startsWith('/') ? workspace : undefined}
          onChoose={(path) => {
            change({ workspace: path, allowHome: false })
            setBrowsing(false)
          }}
        />
      )}
    </>
  )
}
