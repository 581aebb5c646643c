using System.CommandLine;
using FastPort;
using FastPort.OpcUa;
using OpcUaPeer.Ciphers;
using OpcUaPeer.Items;
using OpcUaPeer.Loads;
using OpcUaPeer.Sharing;
using OpcUaPeer.Ticks;

namespace OpcUaPeer;

/// <summary>
/// The commands: servers and clients of the OPC UA comparison, and the bare ciphers. Clients and ciphers answer lines of standard
/// input, <c>run LEAD-IN SECONDS</c>, each with a line of JSON; all end with their input.
/// </summary>
internal static class PeerCommands
{
    private static readonly Option<string> Url = new("--endpoint") { Description = "Where to listen, or whom to ask.", Required = true };

    private static readonly Option<string> Pki = new("--pki") { Description = "Directory of the certificates.", Required = true };

    private static readonly Option<bool> Still = new("--still") { Description = "Values change only when clients write them." };

    private static readonly Option<Operation> What = new("--operation") { Description = "What a request does.", Required = true };

    private static readonly Option<int> Count = new("--count")
    {
        Description = "Tags of a request, or bytes of the package.",
        Required = true,
    };

    private static readonly Option<int> Clients = new("--clients")
    {
        Description = "Clients, each with a session and a connection of its own.",
        DefaultValueFactory = _ => 1,
    };

    private static readonly Option<int> Outstanding = new("--outstanding")
    {
        Description = "Requests of each client that are under way at a time.",
        DefaultValueFactory = _ => 1,
    };

    private static readonly Option<double> MaxAge = new("--max-age")
    {
        Description = "Greatest age of a value when it is asked for, in seconds.",
        DefaultValueFactory = _ => 1,
    };

    private static readonly Option<OpcUaSecurityPolicy> Policy = new("--policy") { Description = "Security policy; with SignAndEncrypt." };

    private static readonly Option<int> ServerId = new("--server-pid") { Description = "The server's process id.", Required = true };

    private static readonly Option<int?> BridgeId = new("--bridge-pid")
    {
        Description = "The endpoint is a bridge's; its process id.",
    };

    private static readonly Option<double> BridgeMaxAge = new("--bridge-max-age")
    {
        Description = "How old the bridge's values may be, in milliseconds.",
    };

    private static readonly Option<int> Sessions = new("--sessions") { Description = "Sessions.", Required = true };

    private static readonly Option<int> Items = new("--items") { Description = "Monitored items, a variable each.", Required = true };

    private static readonly Option<int> Together = new("--together") { Description = "Variables that change at a time.", Required = true };

    private static readonly Option<int> Every = new("--every-ms") { Description = "Time between changes.", Required = true };

    private static readonly Option<int> Publishing = new("--publishing-ms") { Description = "Publishing interval.", Required = true };

    private static readonly Option<int?> SpinMicroseconds = new("--spin-us")
    {
        Description = "How long a loop looks for work before it sleeps.",
    };

    private static readonly Option<int> RequestBytes = new("--request-bytes") { Description = "Bytes of a request.", Required = true };

    private static readonly Option<int> ResponseBytes = new("--response-bytes") { Description = "Bytes of a response.", Required = true };

    public static RootCommand Create()
    {
        var root = new RootCommand("FastPort's own side of the OPC UA comparison.");
        root.Add(Create("server", "2,000 tags whose values tell index and generation.", ServeAsync, Url, Pki, Still, SpinMicroseconds));
        root.Add(
            Create("client", "Reads, writes or fetches packages, and checks them.", LoadAsync, Url, Pki, What, Count, Clients, Outstanding,
                MaxAge, Policy, ServerId, SpinMicroseconds, BridgeId, BridgeMaxAge));
        root.Add(
            Create("sharing-client", "64 sessions of a bridge read the same 100 tags 100 times a second.", ShareAsync, Url, ServerId,
                BridgeId));
        root.Add(
            Create("in-process", "The server, and a client that reads registered tags, in one process.", LoadInProcessAsync, Count,
                Outstanding, MaxAge));
        root.Add(Create("item-server", "Variables that count their changes.", ServeItemsAsync, Url, Items, Together, Every));
        root.Add(
            Create("item-client", "Monitors them all, and sees that no change is lost.", WatchAsync, Url, Sessions, Items, Publishing,
                ServerId));
        root.Add(Create("ciphers", "AES-256-CBC and HMAC-SHA256 of a request and a response, both ends.", CipherAsync, RequestBytes,
            ResponseBytes));
        root.Add(TickCommand.Create());
        return root;
    }

    private static Command Create(string name, string description, Func<ParseResult, Task> run, params Option[] options)
    {
        var command = new Command(name, description);
        foreach (Option option in options)
        {
            command.Add(option);
        }

        command.SetAction((parsed, _) => run(parsed));
        return command;
    }

    private static async Task ServeAsync(ParseResult parsed)
    {
        await using TagServer server = await TagServer.StartAsync(
            parsed.GetRequiredValue(Url), parsed.GetRequiredValue(Pki), parsed.GetValue(Still), parsed.GetValue(SpinMicroseconds));
        foreach (Endpoint endpoint in server.Endpoints)
        {
            Console.WriteLine($"listening on {endpoint}");
        }

        await InputLines.Start().Completion;
    }

    private static Task LoadAsync(ParseResult parsed) => LoadClient.RunAsync(new LoadSettings
    {
        Endpoint = parsed.GetRequiredValue(Url),
        Pki = parsed.GetRequiredValue(Pki),
        Operation = parsed.GetValue(What),
        Count = parsed.GetValue(Count),
        Clients = parsed.GetValue(Clients),
        Outstanding = parsed.GetValue(Outstanding),
        MaxAge = TimeSpan.FromSeconds(parsed.GetValue(MaxAge)),
        Policy = parsed.GetValue(Policy),
        ServerId = parsed.GetValue(ServerId),
        SpinMicroseconds = parsed.GetValue(SpinMicroseconds),
        BridgeId = parsed.GetValue(BridgeId),
        BridgeMaxAge = TimeSpan.FromMilliseconds(parsed.GetValue(BridgeMaxAge)),
    });

    private static async Task LoadInProcessAsync(ParseResult parsed)
    {
        await using TagServer server = await TagServer.StartAsync(
            "inproc://tags", pki: null, still: false, spinMicroseconds: null);
        await LoadClient.RunAsync(new LoadSettings
        {
            Endpoint = $"{server.Endpoints[0]}",
            Operation = Operation.Read,
            Count = parsed.GetValue(Count),
            Outstanding = parsed.GetValue(Outstanding),
            RegistersNodes = true,
            MaxAge = TimeSpan.FromSeconds(parsed.GetValue(MaxAge)),
            ServerId = Environment.ProcessId,
        });
    }

    private static Task ShareAsync(ParseResult parsed) =>
        SharingClient.RunAsync(parsed.GetRequiredValue(Url), parsed.GetValue(ServerId), parsed.GetValue(BridgeId));

    private static Task ServeItemsAsync(ParseResult parsed) => ItemServer.RunAsync(
        parsed.GetRequiredValue(Url), parsed.GetValue(Items), parsed.GetValue(Together),
        TimeSpan.FromMilliseconds(parsed.GetValue(Every)));

    private static Task WatchAsync(ParseResult parsed)
    {
        int sessions = parsed.GetValue(Sessions);
        return new ItemClient(
            parsed.GetRequiredValue(Url), sessions, parsed.GetValue(Items) / sessions,
            TimeSpan.FromMilliseconds(parsed.GetValue(Publishing)), parsed.GetValue(ServerId)).RunAsync();
    }

    private static Task CipherAsync(ParseResult parsed) =>
        CipherRun.RunAsync(parsed.GetValue(RequestBytes), parsed.GetValue(ResponseBytes));
}
