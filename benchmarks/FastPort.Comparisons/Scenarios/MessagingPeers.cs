using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What messages travel over.</summary>
internal enum MessagingLink
{
    Tcp,

    UnixSocket,

    /// <summary>Two threads of one process.</summary>
    InProcess,
}

/// <summary>The commands of those who exchange messages.</summary>
internal sealed class MessagingPeers(ScenarioContext context)
{
    public MessagingPeer FastPort(string name, MessagingLink link, int size, bool lockStep, int? spinMicroseconds)
    {
        string assembly = context.Bench.Programs.Find("benchmarks", "FastPortPeer");
        string[] common =
        [
            "--size", Invariant.Text(size),
            .. lockStep ? (string[])["--lock-step"] : [],
            .. spinMicroseconds is { } spin ? (string[])["--spin-us", Invariant.Text(spin)] : [],
        ];
        string endpoint = link == MessagingLink.UnixSocket ? $"unix://{context.Bench.NewPath("messages.sock")}" : "tcp://127.0.0.1:0";
        return new MessagingPeer(name, () => ProgramLocator.MissingAssembly(name, assembly))
        {
            Server = link == MessagingLink.InProcess
                ? [ProgramLocator.DotNetHost, assembly, "both", .. common]
                : [ProgramLocator.DotNetHost, assembly, "server", "--endpoint", endpoint, .. common],
            Client = link == MessagingLink.InProcess ? null : endpoints =>
                [ProgramLocator.DotNetHost, assembly, "client", "--endpoint", endpoints[0], .. common],
            IsManaged = true,
        };
    }

    public MessagingPeer ZmqPush(MessagingLink link, int size, bool lockStep) =>
        Zmq("libzmq PUSH-PULL", "push", link, size, lockStep) with { Endpoints = lockStep ? 2 : 1 };

    /// <summary>The same, its threads placed by the scheduler.</summary>
    public MessagingPeer ZmqPushUnpinned(MessagingLink link, int size) =>
        ZmqPush(link, size, lockStep: false) with { Name = "libzmq PUSH-PULL, unpinned", IsPinned = false };

    public MessagingPeer ZmqRouter(MessagingLink link, int size, bool lockStep) =>
        Zmq("libzmq ROUTER-ROUTER", "router", link, size, lockStep);

    private MessagingPeer Zmq(string name, string pattern, MessagingLink link, int size, bool lockStep)
    {
        NativePrograms native = context.Native;
        string[] common = ["--pattern", pattern, "--mode", lockStep ? "lock-step" : "one-way", "--size", Invariant.Text(size)];
        string endpoint = link == MessagingLink.UnixSocket ? $"ipc://{context.Bench.NewPath("messages.zmq")}" : "tcp://127.0.0.1:*";
        return new MessagingPeer(name, () => native.Missing(native.ZmqPeer))
        {
            Server = link == MessagingLink.InProcess
                ? [native.ZmqPeer, "both", .. common]
                : [native.ZmqPeer, "server", "--bind", endpoint, .. common],
            Client = link == MessagingLink.InProcess
                ? null
                : endpoints => [native.ZmqPeer, "client", .. endpoints.SelectMany(each => (string[])["--connect", each]), .. common],
        };
    }
}
