#!/usr/bin/env bash
# Package:  StackExchange.Redis 3.4.35 (NuGet).
# Guess:    a library that awaits with ConfigureAwait(false) throughout needs nothing of its caller's thread, so ConnectAsync can be called
#           from code that runs on a TaskScheduler of its own.
# Behavior: ConnectAsync queues one task of its own on TaskScheduler.Current of the caller. Called on the thread pool it queues none there.
# Matters:  where that scheduler has one thread (an actor, a grain, a window) and that thread waits for the connection, the task that would
#           complete it is never run. Starting the connect with Task.Run avoids it.
# Output seen:
#   called on a scheduler of its own: 1 task of the library on it
#   called on the thread pool: 0 tasks of the library on it
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
  <ItemGroup>
    <PackageReference Include="StackExchange.Redis" Version="3.4.35" />
  </ItemGroup>
</Project>
EOF
cat > Program.cs <<'EOF'
using System.Net;
using System.Net.Sockets;
using StackExchange.Redis;

// A port that nobody listens on: the multiplexer is returned all the same, as abortConnect=false asks.
var held = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
held.Bind(new IPEndPoint(IPAddress.Loopback, 0));
string nobody = $"127.0.0.1:{((IPEndPoint)held.LocalEndPoint).Port},abortConnect=false,connectRetry=0";

var own = new CountingScheduler();
using (await Task.Factory.StartNew(Connect, CancellationToken.None, TaskCreationOptions.None, own).Unwrap().ConfigureAwait(false))
{
    // One of the tasks is the caller's, which StartNew has queued.
    Console.WriteLine($"called on a scheduler of its own: {own.Queued - 1} task of the library on it");
}

own = new CountingScheduler();
using (await Task.Factory.StartNew(() => Task.Run(Connect), CancellationToken.None, TaskCreationOptions.None, own)
    .Unwrap().ConfigureAwait(false))
{
    Console.WriteLine($"called on the thread pool: {own.Queued - 1} tasks of the library on it");
}

Task<ConnectionMultiplexer> Connect() => ConnectionMultiplexer.ConnectAsync(nobody);

internal sealed class CountingScheduler : TaskScheduler
{
    private int _queued;

    public int Queued => Volatile.Read(ref _queued);

    protected override void QueueTask(Task task)
    {
        Interlocked.Increment(ref _queued);
        ThreadPool.QueueUserWorkItem(_ => TryExecuteTask(task));
    }

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

    protected override IEnumerable<Task> GetScheduledTasks() => [];
}
EOF
dotnet build -c Release -o out --nologo -v quiet >build.log 2>&1 || { cat build.log; exit 1; }
expected='called on a scheduler of its own: 1 task of the library on it
called on the thread pool: 0 tasks of the library on it'
seen=$(dotnet out/finding.dll)
echo "$seen"
[[ "$seen" == "$expected" ]] || { echo "The behavior has changed."; exit 1; }
echo "As found: ConnectAsync used the caller's scheduler."
