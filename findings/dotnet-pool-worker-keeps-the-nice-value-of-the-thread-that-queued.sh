#!/usr/bin/env bash
# Package:  the .NET 10 runtime on Linux (Microsoft.NETCore.App 10.0), with the system's setpriority.
# Guess:    a thread that lowers its own weight with setpriority(PRIO_PROCESS, 0, 10) slows itself down, and nobody else: workers of the
#           thread pool have Thread.Priority Normal, so they run at nice 0.
# Behavior: a worker of the pool that is created because a niced thread queues work is itself niced, since Linux hands the value down at
#           clone(). It keeps it for work that other threads queue later. Thread.Priority says Normal all the while.
# Matters:  a low weight cannot be given to one thread of a .NET process that ever queues work, starts a Task or sets a timer off: step by
#           step the pool loses its weight too, and an unprivileged process cannot raise it again.
# Output seen:
#   worker made by a niced thread: nice 10, Normal
#   work queued later by the main thread, nice 0: runs at nice 10
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
cat > finding.csproj <<'EOF'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
  </PropertyGroup>
</Project>
EOF
cat > Program.cs <<'EOF'
using System.Runtime.InteropServices;

// The pool has at most one worker here, so the second work item runs on the first one's worker.
if (!ThreadPool.SetMinThreads(1, 1) || !ThreadPool.SetMaxThreads(1, 1))
{
    throw new InvalidOperationException("the pool's limits were refused");
}

var niced = new Thread(static () =>
{
    if (Native.SetPriority(0, 0, 10) != 0)
    {
        throw new InvalidOperationException("setpriority was refused");
    }

    (int nice, ThreadPriority priority) = OnThePool();
    Console.WriteLine($"worker made by a niced thread: nice {nice}, {priority}");
});
niced.Start();
niced.Join();
Console.WriteLine($"work queued later by the main thread, nice {Native.GetPriority(0, 0)}: runs at nice {OnThePool().Nice}");

static (int Nice, ThreadPriority Priority) OnThePool()
{
    using var done = new ManualResetEventSlim();
    (int, ThreadPriority) seen = default;
    ThreadPool.UnsafeQueueUserWorkItem(
        _ =>
        {
            seen = (Native.GetPriority(0, 0), Thread.CurrentThread.Priority);
            done.Set();
        },
        null);
    done.Wait();
    return seen;
}

internal static class Native
{
    [DllImport("libc", EntryPoint = "setpriority")]
    public static extern int SetPriority(int which, int who, int nice);

    [DllImport("libc", EntryPoint = "getpriority")]
    public static extern int GetPriority(int which, int who);
}
EOF
dotnet build -c Release -o out --nologo -v quiet >build.log 2>&1 || { cat build.log; exit 1; }
expected='worker made by a niced thread: nice 10, Normal
work queued later by the main thread, nice 0: runs at nice 10'
seen=$(dotnet out/finding.dll)
echo "$seen"
[[ "$seen" == "$expected" ]] || { echo "The behavior has changed."; exit 1; }
echo "As found: the worker of the pool has the nice value of the thread that queued, and keeps it."
