using System.CommandLine;
using System.CommandLine.Parsing;
using FastPort.OpcUa;
using FastPort.Programs;

namespace FastPort.OpcBridge.Simulation;

/// <summary>The command <c>simulate</c>: its options and their conversion to settings.</summary>
internal sealed class SimulateCommand
{
    private readonly Option<string[]> _listen = new("--listen")
    {
        Description = "Endpoint to listen on. Port 0 lets the system choose. Can be given several times. [default: "
            + "opc.tcp://127.0.0.1:48400]",
        HelpName = "URI",
    };

    private readonly Option<int> _changeRate = WholeNumberOption.Create(
        "--change-rate", "Number of values that change per second, one variable after the other.", "N", 0, 0, 10_000_000);

    private readonly Option<OpcUaSecurityPolicy[]> _policies = new("--security-policy")
    {
        Description = "Security policy that clients may choose: None, Basic256Sha256, Aes128_Sha256_RsaOaep, Aes256_Sha256_RsaPss. "
            + "Can be given several times. [default: None and Basic256Sha256]",
        HelpName = "NAME",
        CustomParser = static result => Names<OpcUaSecurityPolicy>(
            result, "--security-policy", "None, Basic256Sha256, Aes128_Sha256_RsaOaep or Aes256_Sha256_RsaPss", static _ => true),
    };

    private readonly Option<MessageSecurityMode[]> _modes = new("--security-mode")
    {
        Description = "Message protection that clients may choose under a policy other than None: Sign, SignAndEncrypt. "
            + "Can be given several times. [default: both]",
        HelpName = "MODE",
        CustomParser = static result => Names<MessageSecurityMode>(
            result, "--security-mode", "Sign or SignAndEncrypt", static mode => mode > MessageSecurityMode.None),
    };

    private readonly Option<string[]> _users = new("--user")
    {
        Description = "User who may connect. Other users of this machine can see the password; --users keeps it private. "
            + "Can be given several times.",
        HelpName = "NAME:PASSWORD",
    };

    private readonly Option<string?> _usersFile = new("--users")
    {
        Description = "File with users, one NAME:PASSWORD per line. Empty lines and lines that begin with # are ignored.",
        HelpName = "FILE",
    };

    private readonly Option<bool> _noAnonymous = new("--no-anonymous") { Description = "Refuses clients without a user." };

    private readonly Option<string?> _certificates = new("--certificates")
    {
        Description = "Directory of the server's certificate and of the certificates that it trusts. [default: pki beside the program]",
        HelpName = "DIRECTORY",
    };

    private readonly Option<bool> _unsafeTrustAll = new("--unsafe-trust-all")
    {
        Description = "Accepts every client certificate, so anyone can connect. For tests only.",
    };

    private readonly Option<int?> _maxMessage = WholeNumberOption.Create(
        "--max-message-mib",
        "Largest request and response, in MiB (2^20 bytes). A package has 255 MiB at most. [default: 256]",
        "N", 1, 1024);

    private readonly Option<int?> _maxSessions = WholeNumberOption.Create(
        "--max-sessions", "Maximum number of simultaneous sessions. [default: 1000]", "N", 1, 1_000_000);

    private SimulateCommand(Func<SimulationSettings, CancellationToken, Task<int>> run)
    {
        Command = new ExampleCommand(
            "simulate",
            "Serves 2,000 variables and a package method over OPC UA, until Ctrl+C or SIGTERM. Every server option can also be set in "
            + "section OpcUaServer of appsettings.json or by an environment variable such as OpcUaServer__MaxNodesPerRead.",
            "simulate --listen opc.tcp://127.0.0.1:48401 --change-rate 10")
        {
            _listen, _changeRate, _policies, _modes, _users, _usersFile, _noAnonymous, _certificates, _unsafeTrustAll, _maxMessage,
            _maxSessions,
        };
        Command.SetAction((result, cancellationToken) => run(Settings(result), cancellationToken));
    }

    private Command Command { get; }

    /// <summary>Creates the command.</summary>
    /// <param name="run">Runs the simulation and returns the exit code.</param>
    public static Command Create(Func<SimulationSettings, CancellationToken, Task<int>> run) => new SimulateCommand(run).Command;

    // The standard's names have underscores, ours have none.
    private static TEnum[] Names<TEnum>(ArgumentResult result, string option, string allowed, Predicate<TEnum> isAllowed)
        where TEnum : struct, Enum
    {
        List<TEnum> chosen = [];
        foreach (string text in result.Tokens.Select(static token => token.Value))
        {
            string name = text.Replace("_", string.Empty, StringComparison.Ordinal);
            if (Enum.TryParse(name, ignoreCase: true, out TEnum value)
                && value.ToString().Equals(name, StringComparison.OrdinalIgnoreCase)
                && isAllowed(value))
            {
                chosen.Add(value);
            }
            else
            {
                result.AddError($"{option} is '{text}'; give {allowed}.");
            }
        }

        return [.. chosen];
    }

    private SimulationSettings Settings(ParseResult result) => new()
    {
        Listen = result.GetValue(_listen) ?? [],
        ChangeRate = result.GetValue(_changeRate),
        Policies = result.GetValue(_policies) ?? [],
        Modes = result.GetValue(_modes) ?? [],
        Users = result.GetValue(_users) ?? [],
        UsersFile = result.GetValue(_usersFile),
        NoAnonymous = result.GetValue(_noAnonymous),
        Certificates = result.GetValue(_certificates),
        UnsafeTrustAll = result.GetValue(_unsafeTrustAll),
        MaxMessageMegabytes = result.GetValue(_maxMessage),
        MaxSessions = result.GetValue(_maxSessions),
    };
}
