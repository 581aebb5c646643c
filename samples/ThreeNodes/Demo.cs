using System.Diagnostics;
using System.Globalization;
using ThreeNodes.Load;
using ThreeNodes.Processes;

namespace ThreeNodes;

/// <summary>Redis, three nodes and HAProxy, a load through it, and a restart of each node while the load runs.</summary>
internal static class Demo
{
    private const int Players = 30;
    private static readonly string[] Names = ["node-a", "node-b", "node-c"];

    // Before, between and after the restarts.
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(1);

    /// <returns>Whether nothing was lost and nothing came twice.</returns>
    public static async Task<bool> RunAsync(CancellationToken cancellationToken)
    {
        string directory = Directory.CreateTempSubdirectory("three-nodes-").FullName;
        try
        {
            return await RunAsync(directory, cancellationToken);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static async Task<bool> RunAsync(string directory, CancellationToken cancellationToken)
    {
        int[] ports = Ports.Free(2 + (2 * Names.Length));
        bool isBalanced = Balancer.Program is not null;
        await using Child redis = await RedisServer.StartAsync(ports[0], cancellationToken);
        await using var a = new Node(Names[0], ports[2], ports[3], ports[0], isBalanced, directory);
        await using var b = new Node(Names[1], ports[4], ports[5], ports[0], isBalanced, directory);
        await using var c = new Node(Names[2], ports[6], ports[7], ports[0], isBalanced, directory);
        Node[] nodes = [a, b, c];
        await Task.WhenAll(nodes.Select(node => node.StartAsync(cancellationToken)));
        await using Balancer? balancer = isBalanced
            ? await Balancer.StartAsync(ports[1], nodes, directory, cancellationToken)
            : null;
        Console.WriteLine(isBalanced
            ? $"three nodes behind haproxy, which listens on {balancer!.Endpoint}"
            : "three nodes; haproxy is not installed, so each client connects to a node of its own");

        await using var traffic = new Traffic(Players, balancer is null ? [.. nodes.Select(n => n.Endpoint)] : [balancer.Endpoint]);
        await traffic.StartAsync(cancellationToken);
        Console.WriteLine($"{Players} clients with routing ids send echo requests, and relays to each other");
        foreach (Node node in nodes)
        {
            await Task.Delay(Quiet, cancellationToken);
            await RestartAsync(node, balancer, traffic.Account, cancellationToken);
        }

        await Task.Delay(Quiet, cancellationToken);
        await traffic.FinishAsync(cancellationToken);
        foreach (string line in traffic.Account.Lines())
        {
            Console.WriteLine(line);
        }

        Console.WriteLine(traffic.Account.IsExact ? "the account is exact" : "THE ACCOUNT IS NOT EXACT");
        return traffic.Account.IsExact;
    }

    private static async Task RestartAsync(Node node, Balancer? balancer, Account account, CancellationToken cancellationToken)
    {
        long requests = account.Requests;
        var time = Stopwatch.StartNew();
        await node.StopAsync(cancellationToken);
        string stopped = Seconds(time);
        await node.StartAsync(cancellationToken);
        string started = Seconds(time);
        if (balancer is not null)
        {
            await balancer.WaitUntilUpAsync(node, cancellationToken);
        }

        Console.WriteLine(
            $"{node.Name}: ended after {stopped} s, listening again after {started} s, in service after {Seconds(time)} s; "
            + $"{account.Requests - requests} requests in the meantime");
    }

    private static string Seconds(Stopwatch time) => time.Elapsed.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture);
}
