using FastPort.Connections;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>A stage that puts a connection above the one it got, shown in docs/custom-protocols.md.</summary>
internal static class StageSnippets
{
    public static void AddTo(ConnectionServerComponents components)
    {
        // docs: stage
        components.Stages.Add(async (connection, cancellationToken) => await MyTlsConnection.HandshakeAsync(connection, cancellationToken));

        // docs: end
    }

    // Stands for the reader's filter.
    private static class MyTlsConnection
    {
        public static Task<Connection> HandshakeAsync(Connection below, CancellationToken cancellationToken) =>
            Task.FromResult(below).WaitAsync(cancellationToken);
    }
}
