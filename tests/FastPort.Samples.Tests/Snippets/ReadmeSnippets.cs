using FastPort.Protocol;

// Stand for the reader's messages.
using Login = FastPort.Protocol.Echo;
using Move = FastPort.Protocol.Echo;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>A server in the reader's own program, shown in README.md. Compiled, not run: its port is fixed.</summary>
internal static class ReadmeSnippets
{
    /// <summary>Stands for the reader's world.</summary>
    public interface IWorld
    {
        /// <summary>Takes a player's move.</summary>
        void Apply(Session session, Move move);
    }

    /// <summary>Stands for the reader's accounts.</summary>
    public interface IAccounts
    {
        /// <summary>Answers a login.</summary>
        Task<Login> CheckAsync(Login login, CancellationToken cancellationToken);
    }

    public static async Task ServeAsync(IWorld world, IAccounts accounts)
    {
        // docs: server
        await using var server = new FastPortServer(new FastPortServerOptions { Endpoints = { "tcp://0.0.0.0:6628" } });
        server.Handlers
            .MapInline(0x1000, Move.Parser, (move, session) => world.Apply(session, move))
            .MapQueued(0x1001, Login.Parser, async (login, context) => await accounts.CheckAsync(login, context.Aborted));
        await server.StartAsync();

        // docs: end
    }
}
