using FastPort;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;

namespace OpcUaPeer.Items;

/// <summary>A server with many variables, of which some change at a time, one after the other: each counts its changes.</summary>
internal static class ItemServer
{
    public const string NamespaceUri = "urn:fastport:items";

    /// <summary>How many changes there were, Int64.</summary>
    public const uint Changes = 1_000_000;

    private const int VariablesPerFolder = 1000;

    private static long _changes;

    /// <summary>Serves until the standard input ends.</summary>
    /// <param name="endpoint">Where it listens.</param>
    /// <param name="count">Variables.</param>
    /// <param name="together">Variables that change at a time.</param>
    /// <param name="period">Time from one such change to the next.</param>
    public static async Task RunAsync(string endpoint, int count, int together, TimeSpan period)
    {
        var options = new OpcUaServerOptions { ApplicationName = "FastPort comparison" };
        options.Endpoints.Add(endpoint);
        options.SecurityPolicies = [OpcUaSecurityPolicy.None];
        await using var server = new OpcUaServer(options);
        VariableNode[] variables = AddNodes(server.AddressSpace, count);
        await server.StartAsync();
        foreach (Endpoint one in server.Endpoints)
        {
            Console.WriteLine($"listening on {one}");
        }

        using var ended = new CancellationTokenSource();
        Task changes = ChangeAsync(variables, together, period, ended.Token);
        await InputLines.Start().Completion;
        await ended.CancelAsync();
        await changes.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>How many of the first changes were the variable's.</summary>
    public static long ChangesOf(int variable, long changes, int count) => (changes + count - 1 - variable) / count;

    private static VariableNode[] AddNodes(AddressSpace space, int count)
    {
        ushort index = space.AddNamespace(NamespaceUri);
        space.AddVariable<long>(
            AddressSpace.ObjectsFolder, new NodeId(index, Changes), "Changes", static () => new DataValue(Volatile.Read(ref _changes)));
        var variables = new VariableNode[count];
        NodeId folder = default;
        for (int i = 0; i < count; i++)
        {
            if (i % VariablesPerFolder == 0)
            {
                folder = space.AddFolder(AddressSpace.ObjectsFolder, new NodeId(index, $"folder {i}"), $"{i}").Id;
            }

            variables[i] = space.AddVariable(folder, new NodeId(index, (uint)i), $"v{i}", 0L);
        }

        return variables;
    }

    private static async Task ChangeAsync(VariableNode[] variables, int together, TimeSpan period, CancellationToken cancellationToken)
    {
        long[] values = new long[variables.Length];
        int next = 0;
        using var timer = new PeriodicTimer(period);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            for (int i = 0; i < together; i++)
            {
                variables[next].Value = new DataValue(++values[next]);
                next = (next + 1) % variables.Length;
            }

            Volatile.Write(ref _changes, _changes + together);
        }
    }
}
