namespace FastPort.Protocol.Tools.Contracts;

/// <summary>An error or a warning about a contract, at a place in a file.</summary>
internal sealed class Problem(string code, string file, Place place, string message)
{
    public const string SameNumber = "FASTPORT101";
    public const string NumberOutOfRange = "FASTPORT102";
    public const string NoNumber = "FASTPORT103";
    public const string SameName = "FASTPORT104";
    public const string NumberChanged = "FASTPORT105";
    public const string NumberReserved = "FASTPORT106";
    public const string RunOfStream = "FASTPORT107";
    public const string UnknownRun = "FASTPORT108";
    public const string BadList = "FASTPORT109";
    public const string NotListed = "FASTPORT110";
    public const string Unreadable = "FASTPORT111";

    public string Code { get; } = code;

    public string File { get; } = file;

    public Place Place { get; } = place;

    public string Message { get; } = message;

    /// <summary>A method that the list lacks is no error: the list is written before the method is released.</summary>
    public bool IsWarning => Code == NotListed;

    public static Problem Of(ContractService service, string code, string message) =>
        new(code, service.Contract.Path, service.Source.Place, message);

    public static Problem Of(ContractMethod method, string code, string message) =>
        new(code, method.Service.Contract.Path, method.Source.Place, message);

    public static Problem OfNumber(ContractMethod method, string code, string message) =>
        new(code, method.Service.Contract.Path, method.NumberPlace, message);
}
